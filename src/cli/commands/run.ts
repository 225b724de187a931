import type { Command } from 'commander';
import { findShell } from '../../adapters/sandbox/find-shell.ts';
import { createProcessSandboxProvider } from '../../adapters/sandbox/process-sandbox.ts';
import type { MergeResult } from '../../core/run/merge.ts';
import { BUILTIN_TOOLS } from '../../core/tools/builtin-tools.ts';
import { createRunStop, type RunStop } from '../../core/work/run-stop.ts';
import { openModel } from '../local-run/open-model.ts';
import { runLocal } from '../local-run/run-local.ts';
import { planRun, type RunPlan, shownFolder } from '../local-run/run-plan.ts';
import { addRunOptions, givenSettings } from '../run-options.ts';
import { stopLines, summaryLines } from '../terminal/summary.ts';
import type { Wiring } from '../wiring.ts';
import { listDistributions } from './list-distributions.ts';

const EXAMPLES = `
Examples:
  talaria run --dataset_file=examples/prompts.jsonl --batch_size=4 --run_name=first --model=rehearsal
  talaria run --dataset_file=prompts.jsonl --batch_size=10 --run_name=mine --num_workers=16
  talaria run --run_name=mine --resume        # the other flags stay as they were

Each flag can be written --a_b=v, --a_b v or --a-b v.
Exit codes: 0 all prompts ended well, 1 some failed or the run stopped early, 2 wrong use,
130 interrupted.`;

/** How long the second signal waits for commands to be killed, in milliseconds. */
const LAST_CLEANUP_MS = 1_000;

export function addRun(program: Command, wiring: Wiring): void {
  const command = program
    .command('run')
    .description('run every prompt of a dataset as an agent conversation, on this machine')
    .option('--config <path>', 'settings as JSON under the names of the flags; a flag wins')
    .option('--list_distributions', 'show the toolset distributions and end')
    .addHelpText('after', EXAMPLES);
  addRunOptions(command);
  command.action(async (options: Record<string, unknown>) => {
    if (options['list_distributions'] === true) return await listDistributions({}, wiring);
    process.exitCode = await run(options, wiring);
  });
}

/** Runs one pass; resolves to the exit code. */
async function run(options: Record<string, unknown>, wiring: Wiring): Promise<number> {
  const flags = givenSettings(options);
  const configPath = typeof options['config'] === 'string' ? options['config'] : undefined;
  const plan = await planRun({ flags, configPath, tools: BUILTIN_TOOLS }, wiring);

  const model = openModel(plan, wiring);
  const path = wiring.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';
  const shell = findShell(path);
  if (shell === undefined) throw new Error(`no bash or sh on PATH (${path}): commands need one`);
  const sandboxes = createProcessSandboxProvider({ root: wiring.sandboxRoot, shell, path });
  const stop = createRunStop();
  const unlisten = listenForStop(stop, () => sandboxes.close(), wiring);
  try {
    await sandboxes.sweep();
    const result = await runLocal(plan, { wiring, model, sandboxes, stop });
    report(result, plan, stop, wiring);
    if (stop.reason?.kind === 'interrupted') return 130;
    return stop.reason !== undefined || result.coverage.failed > 0 ? 1 : 0;
  } finally {
    unlisten();
    await model.close();
    await sandboxes.close();
  }
}

function report(result: MergeResult, { config }: RunPlan, stop: RunStop, wiring: Wiring): void {
  const folder = shownFolder(config);
  const { statistics, files, coverage } = result;
  if (config.json) {
    const stopped = stop.reason ?? null;
    const whole = { run: config.run_name, folder, stopped, statistics, files };
    wiring.stdout.write(`${JSON.stringify(whole)}\n`);
  } else {
    for (const line of summaryLines(result, folder)) wiring.stdout.write(`${line}\n`);
  }
  for (const line of stopLines(stop.reason, coverage.failed)) wiring.stderr.write(`${line}\n`);
}

/** The first signal hands prompts back and saves; the second ends the process at once. */
function listenForStop(stop: RunStop, endSandboxes: () => Promise<void>, wiring: Wiring) {
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
    wiring.stderr.write(
      '\nstopping: prompts in flight end at their next turn, then everything is saved; once more stops at once\n',
    );
    stop.request({ kind: 'interrupted' });
  });
}
