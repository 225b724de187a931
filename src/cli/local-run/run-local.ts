import { readSnapshotRows } from '../../adapters/local/dataset-rows.ts';
import { createLocalRunFiles } from '../../adapters/local/local-run-files.ts';
import { createLocalTrajectoryStore } from '../../adapters/local/local-trajectory-store.ts';
import { batchNumbers } from '../../adapters/local/run-folder.ts';
import { createRedactor } from '../../core/agent/redact.ts';
import { secretValues } from '../../core/agent/secret-values.ts';
import type { RunObserver } from '../../core/ports/observer.ts';
import { lookAhead } from '../../core/run/look-ahead.ts';
import { type MergeResult, mergeRun } from '../../core/run/merge.ts';
import { promptsOfPass } from '../../core/run/pass-prompts.ts';
import { planBatches } from '../../core/run/plan-batches.ts';
import { runPass } from '../../core/run/run-pass.ts';
import { TOOL_NAMES } from '../../core/toolsets/registry.ts';
import { isDone } from '../../core/trajectory/outcome.ts';
import { createBudget } from '../../core/work/budget.ts';
import { promptSettings } from '../../core/work/prompt-settings.ts';
import { runPrompt } from '../../core/work/run-prompt.ts';
import type { RunStop } from '../../core/work/run-stop.ts';
import { createSlots } from '../../core/work/slots.ts';
import { preflightLines } from '../terminal/preflight.ts';
import { startProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { createVerboseLog } from '../terminal/verbose-log.ts';
import type { Wiring } from '../wiring.ts';
import { createCheckpointWriter } from './checkpoint-writer.ts';
import { fanOut } from './fan-out.ts';
import { lockDeps } from './lock-deps.ts';
import type { OpenModel } from './open-model.ts';
import { openPlanned } from './open-planned.ts';
import type { OpenRun } from './open-run.ts';
import { stageInput } from './pass-input.ts';
import { type RunPlan, shownFolder } from './run-plan.ts';
import type { RunSandboxes } from './run-sandboxes.ts';
import { type StartedPass, startPass } from './start-pass.ts';

export interface LocalRunDeps {
  wiring: Wiring;
  /** Where a person sees what is going on. */
  terminal: Terminal;
  model: OpenModel;
  sandboxes: RunSandboxes;
  stop: RunStop;
}

/** One pass of a run on this machine, from reading the dataset to the merged files. */
export async function runLocal(plan: RunPlan, deps: LocalRunDeps): Promise<MergeResult> {
  const { config } = plan;
  const { wiring, terminal } = deps;
  const lock = await lockDeps(wiring);
  // A resume is refused before its dataset is read; a new run makes no folder before that.
  const held = plan.stored === undefined ? undefined : await openPlanned(plan, lock);
  try {
    const staged = await stageInput({
      source: plan.datasetSource,
      outputDir: config.output_dir,
      runName: config.run_name,
      pid: wiring.pid,
      stdin: wiring.stdin,
      strict: config.strict,
      sandboxes: deps.sandboxes,
      owed: {
        maxSamples: config.max_samples,
        samplesPerPrompt: config.samples_per_prompt,
        sha256Hex: wiring.sha256Hex,
        isDone: held?.state.isDone,
      },
    });
    const open = held ?? (await openPlanned(plan, lock).catch((error) => abandon(staged, error)));
    try {
      const started = await startPass(plan, staged, open, { wiring, pins: deps.sandboxes.pins });
      for (const line of preflight(plan, staged, open, started, deps)) terminal.line(line);
      return await work(plan, open, started, deps);
    } finally {
      if (held === undefined) await open.close();
    }
  } finally {
    await held?.close();
  }
}

async function abandon(staged: { discard(): Promise<void> }, error: unknown): Promise<never> {
  await staged.discard();
  throw error;
}

function preflight(
  plan: RunPlan,
  staged: Parameters<typeof startPass>[1],
  open: OpenRun,
  started: StartedPass,
  { model, terminal }: LocalRunDeps,
): string[] {
  const facts = {
    config: plan.config,
    pass: started.record.pass,
    folder: shownFolder(plan.config),
    dataset: { ...staged, unchanged: started.unchanged },
    prompts: started.prompts,
    toolsets: plan.toolsets,
    rehearsal: plan.rehearsal,
    ignoredFlags: model.ignoredFlags,
    recovered: open.recovery,
  };
  return preflightLines(facts, terminal.colors);
}

async function work(
  plan: RunPlan,
  open: OpenRun,
  started: StartedPass,
  { wiring, terminal, model, sandboxes, stop }: LocalRunDeps,
): Promise<MergeResult> {
  const { config, folder } = plan;
  const { clock, sha256Hex } = wiring;
  const { ledger, state } = open;
  const { record, checkpoint } = started;
  const inputRows = (of: typeof record) => readSnapshotRows(folder.input(of.input_of_pass));
  const budget = createBudget(
    { maxCostUsd: config.max_cost_usd, maxTotalTokens: config.max_total_tokens },
    state.usage,
  );
  const progress = startProgress({
    terminal,
    clock,
    total: started.prompts.fresh + started.prompts.toRetry,
    rehearsal: plan.rehearsal,
    spent: () => budget.spent,
  });
  const bookkeeping: Partial<RunObserver> = {
    replied: (_attempt, _message, usage) => budget.add(usage),
    attemptEnded(attempt, row) {
      checkpoint.addAttempt(attempt.batch, row.outcome);
      if (isDone(row.outcome)) checkpoint.settle(attempt.promptIndex);
    },
  };
  const observer = fanOut([
    bookkeeping,
    progress.observer,
    ...(config.verbose ? [createVerboseLog(terminal.line, config.log_prefix_chars)] : []),
  ]);
  const settings = promptSettings(config, TOOL_NAMES);
  const promptDeps = {
    model: model.model,
    sandboxes,
    clock,
    observer,
    drawToolsets: plan.toolsets.draw,
    toolsOf: plan.toolsets.toolsOf,
    pinOf: sandboxes.pinOf,
    redact: createRedactor(secretValues(wiring.env, plan.apiKey)),
    handBack: stop.handBack,
  };
  const owed = promptsOfPass(record, { inputRows, sha256Hex });
  const batches = planBatches(owed, config.batch_size, state.isDone);
  const writer = createCheckpointWriter(folder.file('checkpoint.json'), checkpoint, clock);
  try {
    await runPass(
      {
        pass: record.pass,
        maxAttempts: config.max_attempts,
        firstBatch: Math.max(state.highestBatch, (await batchNumbers(folder)).highest) + 1,
        batches: lookAhead(batches, sandboxes.reach, ({ promptId, row: { image, cwd } }) =>
          sandboxes.expect({ promptId, image, cwd }),
        ),
      },
      {
        runPrompt: (prompt, ref) => runPrompt(prompt, ref, settings, promptDeps),
        store: createLocalTrajectoryStore(folder),
        ledger,
        observer,
        slots: createSlots(config.num_workers),
        stop,
        attemptsBefore: state.attempts,
        mayStart() {
          const reason = budget.exhausted();
          if (reason !== undefined) stop.request({ kind: 'budget', reason });
          return reason === undefined;
        },
        onBatchClosed: () => writer.writeIfDue(),
      },
    );
  } finally {
    progress.stop();
  }
  const files = createLocalRunFiles(folder);
  return await mergeRun(started.run, { ledger, files, inputRows, sha256Hex });
}
