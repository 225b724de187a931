import type { Command } from 'commander';
import type { RunProgress } from '../../adapters/aws/run-progress.ts';
import { runKeys } from '../../core/cloud/bucket-keys.ts';
import { addStackOptions, type StackOptions, stackOutputs, withAws } from '../cloud/open-stack.ts';
import { checkedRunName } from '../cloud/run-name.ts';
import { type ShownStatus, statusLines } from '../terminal/status-lines.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../usage-error.ts';
import type { Wiring } from '../wiring.ts';

interface StatusOptions extends StackOptions {
  follow?: boolean;
  json?: boolean;
}

const FOLLOW_MS = 5_000;
/** An upload's event takes seconds, sometimes a minute. */
const UNKNOWN_FOR_MS = 120_000;

const EXAMPLES = `
Example:
  talaria status mine
  talaria status mine --follow

Says where a run of the cloud is: its state, its batches, how many prompts have
ended, and why it waits or was refused. With --follow it says so every few
seconds until the run is done, paused, cancelled or failed.

Exit codes: 0 planned, at work or done, 1 paused, cancelled, failed or refused,
2 wrong use.`;

export function addStatus(program: Command, wiring: Wiring): void {
  const command = program
    .command('status')
    .argument('<run>', 'name of the run')
    .description('Show how far a run of the cloud is.')
    .option('--follow', 'go on until it has ended')
    .option('--json', 'print it as one JSON object on standard output; an error too')
    .addHelpText('after', EXAMPLES);
  addStackOptions(command, { bucket: false });
  command.action(async (runName: string, options: StatusOptions) => {
    process.exitCode = await withAws(() => status(checkedRunName(runName), options, wiring));
  });
}

/** Resolves to the exit code. */
async function status(runName: string, options: StatusOptions, wiring: Wiring): Promise<number> {
  const read = await openStatus(runName, options, wiring);
  let seen = await known(read, runName, options, wiring);
  let shown = textOf(runName, seen, options, wiring);
  wiring.stdout.write(shown);
  while (options.follow === true && !hasEnded(seen)) {
    await sleep(wiring, FOLLOW_MS);
    seen = await read();
    const text = textOf(runName, seen, options, wiring);
    // Said once: a run may take days.
    if (text !== shown) wiring.stdout.write(options.json === true ? text : `\n${text}`);
    shown = text;
  }
  return isWell(seen) ? 0 : 1;
}

/** The first that is known of a run; with --follow an upload's event is waited for. */
async function known(
  read: () => Promise<Seen>,
  runName: string,
  { follow, stack }: StatusOptions,
  wiring: Wiring,
): Promise<Seen> {
  const until = wiring.clock.monotonic() + (follow === true ? UNKNOWN_FOR_MS : 0);
  for (;;) {
    const seen = await read();
    if (seen.run !== undefined || seen.refusal !== undefined) return seen;
    if (wiring.clock.monotonic() >= until) break;
    await sleep(wiring, FOLLOW_MS);
  }
  throw new UsageError(
    `the stack ${stack} knows no run ${runName}: was it submitted? An upload's event may take a minute`,
  );
}

interface Seen extends ShownStatus {
  run: RunProgress | undefined;
}

async function openStatus(
  runName: string,
  options: StatusOptions,
  wiring: Wiring,
): Promise<() => Promise<Seen>> {
  const outputs = await stackOutputs(options);
  const { openTable } = await import('../../adapters/aws/table.ts');
  const { openBucket } = await import('../../adapters/aws/bucket.ts');
  const { createRunProgressReader } = await import('../../adapters/aws/run-progress.ts');
  const { objectTextIfAny } = await import('../../adapters/aws/upload-object.ts');
  const table = openTable(outputs.table);
  const bucket = openBucket(
    outputs.bucket,
    wiring.env['AWS_ENDPOINT_URL_S3'] ?? wiring.env['AWS_ENDPOINT_URL'],
  );
  const keys = runKeys(runName);
  const readProgress = createRunProgressReader(runName, {
    table,
    sleep: (milliseconds) => sleep(wiring, milliseconds),
  });
  return async () => {
    const [run, refusal, statistics] = await Promise.all([
      readProgress(),
      objectTextIfAny(bucket, keys.error),
      objectTextIfAny(bucket, keys.file('statistics.json')),
    ]);
    return { run, refusal, statistics };
  };
}

function textOf(
  runName: string,
  seen: Seen,
  { json }: StatusOptions,
  { stdout, env }: Wiring,
): string {
  if (json !== true) {
    const { colors } = openTerminal(stdout, env);
    return `${statusLines(runName, seen, colors).join('\n')}\n`;
  }
  const { run, refusal, statistics } = seen;
  const of = {
    run: runName,
    state: run?.run.state ?? null,
    reason: run?.run.reason ?? '',
    pass: run?.run.pass ?? null,
    tasks: run?.run.active ?? 0,
    batches: run?.batches ?? null,
    prompts: run?.prompts ?? null,
    refused: refusal === undefined ? null : JSON.parse(refusal),
    statistics: statistics === undefined ? null : JSON.parse(statistics),
  };
  return `${JSON.stringify(of)}\n`;
}

const ENDED = new Set(['done', 'failed', 'cancelled', 'paused']);
const UNWELL = new Set(['failed', 'cancelled', 'paused', 'pausing', 'cancelling']);

function hasEnded({ run }: Seen): boolean {
  return run === undefined || ENDED.has(run.run.state);
}

function isWell({ run, refusal }: Seen): boolean {
  return refusal === undefined && run !== undefined && !UNWELL.has(run.run.state);
}

/** The process is to stay: the clock's own sleep lets it end. */
function sleep({ clock }: Wiring, milliseconds: number): Promise<void> {
  const stay = setInterval(() => undefined, milliseconds);
  return clock.sleep(milliseconds).finally(() => clearInterval(stay));
}
