import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refusal, toolCall } from '../../support/model-server-replies.ts';
import { expectSound, filesUnder } from '../../support/run-files.ts';
import { makeWorkshop, type Workshop } from '../../support/talaria-process.ts';
import { ANSWER, type Provider, startProvider } from './playing-provider.ts';

const KEY = 'sk-test-0123456789abcdef';
const OTHER_KEY = 'another-secret-of-the-runner';
const EPHEMERAL = 'You are the secret persona.';
const PREFILL = 'The secret first word.';

let workshop: Workshop;
let provider: Provider;
beforeEach(async () => {
  workshop = await makeWorkshop();
  await workshop.dataset(['look around', 'refused', 'plain']);
  const prefill = [{ role: 'assistant', content: PREFILL }];
  writeFileSync(join(workshop.path, 'prefill.json'), JSON.stringify(prefill));
  provider = await startProvider((prompt, nth) => {
    // A provider that repeats in its refusal what it was sent.
    if (prompt === 'refused') return refusal(400, `bad: Bearer ${KEY}, ${EPHEMERAL} ${PREFILL}`);
    if (prompt === 'plain' || nth > 1) return ANSWER;
    return toolCall('terminal', { command: LEAK });
  });
});
afterEach(async () => {
  await workshop.dispose();
  await provider.close();
});

/** Prints the runner's environment and its command line. */
const LEAK =
  'env; tr "\\0" "\\n" < /proc/$PPID/environ; echo line:; tr "\\0" "\\n" < /proc/$PPID/cmdline';

describe('what must not be written', () => {
  it('stands in no file but private.json, and not on the terminal', async () => {
    const end = await workshop.run(
      {
        ...provider.flags,
        api_key: KEY,
        ephemeral_system_prompt: EPHEMERAL,
        prefill_messages_file: 'prefill.json',
        toolsets: 'terminal',
        max_attempts: 1,
        verbose: true,
        log_prefix_chars: 100_000,
      },
      { env: { SOME_API_KEY: OTHER_KEY } },
    );
    expect(end.code).toBe(1);
    const { trajectories } = expectSound(workshop.folder());
    expect(trajectories).toHaveLength(2);
    // The command did see the runner's, or this test proves nothing.
    expect(JSON.stringify(trajectories)).toMatch(/SOME_API_KEY=.*line:.*talaria/);
    expect(JSON.stringify(trajectories)).not.toContain('--api_key');
    expect(provider.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(provider.requests[0]?.text).toContain(EPHEMERAL);
    expect(provider.requests[0]?.text).toContain(PREFILL);

    const places = filesUnder(workshop.folder()).map((name): [string, string] => [
      name,
      readFileSync(join(workshop.folder(), name), 'utf8'),
    ]);
    places.push(['stdout', end.stdout], ['stderr', end.stderr]);
    const sent = provider.requests.flatMap(({ body }) => body.messages.slice(2));
    places.push(['what went back to the model', JSON.stringify(sent)]);
    const found = places.flatMap(([name, text]) =>
      [KEY, OTHER_KEY, EPHEMERAL, PREFILL]
        .filter((secret) => text.includes(secret))
        .map((secret) => `${name}: ${secret}`),
    );
    expect(found).toEqual([`private.json: ${EPHEMERAL}`, `private.json: ${PREFILL}`]);
    expect(statSync(join(workshop.folder(), 'private.json')).mode & 0o777).toBe(0o600);
  });

  it('leaves no private.json where there is nothing private', async () => {
    await workshop.run({ ...provider.flags, api_key: KEY, max_attempts: 1 });
    expect(filesUnder(workshop.folder())).not.toContain('private.json');
  });
});
