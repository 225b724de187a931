import type { Command } from 'commander';
import type { MergeResult } from '../../core/run/merge.ts';
import { BUILTIN_TOOLS } from '../../core/tools/builtin-tools.ts';
import { createRunStop, type RunStop } from '../../core/work/run-stop.ts';
import { openModel } from '../local-run/open-model.ts';
import { runLocal } from '../local-run/run-local.ts';
import { planRun, type RunPlan, shownFolder } from '../local-run/run-plan.ts';
import { createRunSandboxes } from '../local-run/run-sandboxes.ts';
import { withWayOn } from '../local-run/storage-stop.ts';
import { addRunOptions, givenSettings } from '../run-options.ts';
import { stopLines, summaryLines } from '../terminal/summary.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';
import type { Wiring } from '../wiring.ts';
import { listDistributions } from './list-distributions.ts';

const EXAMPLES = `
Examples:
  Try it, without key or network:
    talaria run --dataset_file=examples/prompts.jsonl --batch_size=4 \\
        --run_name=first --model=rehearsal
  With a model (key from OPENROUTER_API_KEY):
    talaria run --dataset_file=prompts.jsonl --batch_size=10 \\
        --run_name=mine --num_workers=16
  Go on with a run; the other flags stay as they were:
    talaria run --run_name=mine --resume

Each flag can be written --a_b=v, --a_b v, --a-b=v or --a-b v.
A dataset row is {"prompt": "…"}; "image" names a container image to run in,
"cwd" a folder to start in, all other fields are carried through.
Results go to <output_dir>/<run_name>/.

Exit codes: 0 all prompts ended well, 1 some failed or the run stopped early,
2 wrong use, 130 interrupted.`;

/** How long the second signal waits for commands to be killed, in milliseconds. */
const LAST_CLEANUP_MS = 1_000;

export function addRun(program: Command, wiring: Wiring): void {
  const command = program
    .command('run')
    .description('Run every prompt of a dataset as an agent conversation, on this machine.')
    .option(
      '--config <path>',
      'JSON file of settings under the names of the flags; a flag wins, and the run.json of a run will do',
    )
    .option('--list_distributions', 'show the toolset distributions and end')
    .addHelpText('after', EXAMPLES);
  addRunOptions(command);
  command.action(async (options: Record<string, unknown>) => {
    if (options['list_distributions'] === true) return await listDistributions(options, wiring);
    process.exitCode = await run(options, wiring);
  });
}

/** Runs one pass; resolves to the exit code. */
async function run(options: Record<string, unknown>, wiring: Wiring): Promise<number> {
  const flags = givenSettings(options);
  const configPath = typeof options['config'] === 'string' ? options['config'] : undefined;
  const plan = await planRun({ flags, configPath, tools: BUILTIN_TOOLS }, wiring);

  const model = openModel(plan, wiring);
  const stop = createRunStop();
  const terminal = openTerminal(wiring.stderr, wiring.env);
  const sandboxes = createRunSandboxes(plan.config, wiring, {
    terminal,
    pins: new Map(Object.entries(plan.stored?.manifest.images ?? {})),
    signal: stop.handBack,
  });
  const unlisten = listenForStop(stop, () => sandboxes.close(), { wiring, terminal });
  try {
    await sandboxes.sweep();
    const result = await runLocal(plan, { wiring, terminal, model, sandboxes, stop });
    report(result, plan, stop, { wiring, terminal });
    if (stop.reason?.kind === 'interrupted') return 130;
    return stop.reason !== undefined || result.coverage.failed > 0 ? 1 : 0;
  } catch (error) {
    throw withWayOn(error);
  } finally {
    unlisten();
    await model.close();
    await sandboxes.close();
  }
}

interface Seen {
  wiring: Wiring;
  /** Standard error. */
  terminal: Terminal;
}

function report(
  result: MergeResult,
  { config }: RunPlan,
  stop: RunStop,
  { wiring, terminal }: Seen,
): void {
  const folder = shownFolder(config);
  const { statistics, files, coverage } = result;
  if (config.json) {
    const stopped = stop.reason ?? null;
    const whole = { run: config.run_name, folder, stopped, statistics, files };
    wiring.stdout.write(`${JSON.stringify(whole)}\n`);
  } else {
    const page = openTerminal(wiring.stdout, wiring.env);
    for (const line of summaryLines(result, folder, page.colors)) page.line(line);
  }
  for (const line of stopLines(stop.reason, coverage.failed, terminal.colors)) terminal.line(line);
}

/** The first signal hands prompts back and saves; the second ends the process at once. */
function listenForStop(
  stop: RunStop,
  endSandboxes: () => Promise<void>,
  { wiring, terminal }: Seen,
) {
  let signals = 0;
  return wiring.onStopSignal(() => {
    signals += 1;
    if (signals > 1) {
      // What is finished is durable already; only commands must not outlive the run.
      void Promise.race([endSandboxes(), wiring.clock.sleep(LAST_CLEANUP_MS)]).finally(() =>
        wiring.exit(130),
      );
      return;
    }
    terminal.line(
      'stopping: prompts in flight end at their next turn, then everything is saved; once more stops at once',
    );
    stop.request({ kind: 'interrupted' });
  });
}
