import type { Command } from 'commander';
import type { ModelKeySecret } from '../../adapters/aws/model-key-secret.ts';
import { addStackOptions, type StackOptions, stackOutputs, withAws } from '../cloud/open-stack.ts';
import { readKey } from '../cloud/read-key.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../usage-error.ts';
import type { Wiring } from '../wiring.ts';

interface SecretsOptions extends StackOptions {
  json?: boolean;
  from_env?: string;
}

const NOTES = `
Examples:
  talaria secrets set openrouter.ai                # asks for the key
  talaria secrets set openrouter.ai < key.txt
  talaria secrets set api.openai.com --from_env OPENAI_API_KEY
  talaria secrets list

The stack keeps the keys of models in one secret, each with the host it is for:
a run whose --base_url is https://openrouter.ai/api/v1 gets the key of
openrouter.ai and no other, one of a host without a key gets none. A host has
its port where the URL has one: 10.0.0.7:8000. Tasks that start from then on
have the new key. A key is never an argument: those stand in the process list.

Exit codes: 0 stored, 1 failed, 2 wrong use.`;

export function addSecrets(program: Command, wiring: Wiring): void {
  const group = program
    .command('secrets')
    .description('Keep the keys of models for runs in the cloud.')
    .addHelpText('after', NOTES)
    .action(() => group.outputHelp());
  const add = (command: Command) =>
    addStackOptions(command, { bucket: false }).option(
      '--json',
      'print the result as one JSON object on standard output; an error too',
    );
  add(group.command('set'))
    .argument('<host>', 'host of the endpoint, or its URL')
    .description('Store the key of a host, from standard input or a variable.')
    .option('--from_env <name>', 'variable that holds the key')
    .addHelpText('after', NOTES)
    .action((host: string, options: SecretsOptions) =>
      withSecret(options, wiring, async (secret) => {
        const name = hostOf(host);
        await secret.set(name, await readKey(options.from_env, wiring));
        return { host: name, text: `stored the key of ${name}` };
      }),
    );
  add(group.command('list'))
    .description('Show the hosts that have a key.')
    .action((options: SecretsOptions) =>
      withSecret(options, wiring, async (secret) => {
        const hosts = await secret.hosts();
        return { hosts, text: hosts.length === 0 ? 'no host has a key' : hosts.join('\n') };
      }),
    );
  add(group.command('remove'))
    .argument('<host>', 'host of the endpoint, or its URL')
    .description('Forget the key of a host.')
    .action((host: string, options: SecretsOptions) =>
      withSecret(options, wiring, async (secret) => {
        const name = hostOf(host);
        const removed = await secret.remove(name);
        const text = removed ? `removed the key of ${name}` : `${name} has no key`;
        return { host: name, removed, text };
      }),
    );
}

async function withSecret(
  options: SecretsOptions,
  { stdout, env }: Wiring,
  work: (secret: ModelKeySecret) => Promise<{ text: string } & Record<string, unknown>>,
): Promise<void> {
  await withAws(async () => {
    const { openModelKeySecret } = await import('../../adapters/aws/model-key-secret.ts');
    const { secretArn } = await stackOutputs(options);
    const { text, ...result } = await work(openModelKeySecret(secretArn));
    if (options.json === true) stdout.write(`${JSON.stringify(result)}\n`);
    else openTerminal(stdout, env).line(text);
  });
}

/** As the worker looks it up: with its port, unless that is the usual one. */
function hostOf(given: string): string {
  const url = /^https?:\/\//.test(given) ? given : `https://${given}`;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isHost = url === given || parsed?.pathname === '/';
  if (isHost && parsed !== undefined && parsed.username === '') return parsed.host;
  throw new UsageError(
    `host: expected the host of an endpoint, such as openrouter.ai or 10.0.0.7:8000, got ${JSON.stringify(given.slice(0, 100))}`,
  );
}
