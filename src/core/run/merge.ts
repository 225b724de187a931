import type { Ledger } from '../ports/ledger.ts';
import type { JoinedFile, RunFiles } from '../ports/run-files.ts';
import { type CheckpointBuilder, createCheckpoint } from './checkpoint.ts';
import { type Coverage, createCoverageMeter } from './coverage.ts';
import { datasetCard } from './dataset-card.ts';
import { type LedgerSums, sumLedger } from './ledger-sums.ts';
import type { RunFile } from './manifest.ts';
import {
  distinctPlans,
  type PassPromptsDeps,
  promptsOfDataset,
  promptsOfPass,
} from './pass-prompts.ts';
import { createRunState, type RunState } from './run-state.ts';
import { type Statistics, statisticsOf } from './statistics.ts';

export interface MergeDeps extends PassPromptsDeps {
  ledger: Pick<Ledger, 'entries'>;
  files: RunFiles;
  /** The state of the whole ledger, where it was read already. */
  state?: RunState;
}

export interface MergeResult {
  coverage: Coverage;
  statistics: Statistics;
  files: { trajectories: JoinedFile; discarded: JoinedFile; failed: JoinedFile };
}

/**
 * Builds the run's files from its batch files and its ledger. A pure function of what is stored:
 * merging again gives the same bytes. Throws `CoverageError` when the books don't add up, and what
 * `RunFiles` throws for a batch file that lacks rows.
 */
export async function mergeRun(run: RunFile, deps: MergeDeps): Promise<MergeResult> {
  const { files, ledger } = deps;
  const state = deps.state ?? (await readState(ledger));
  const checkpoint = createCheckpoint(run.run_name ?? '', run.passes.at(-1)?.rows ?? 0);
  const sums = await sumLedger(ledger, state, checkpoint);
  const coverage = await readDatasets(run, state, checkpoint, deps);

  const joined = await joinFiles(sums, state, files);
  const lastAt = sums.lastAt ?? run.manifest.created_at;
  const statistics = statisticsOf({
    run,
    tally: sums.tally,
    coverage,
    batches: sums.batches,
    lastAt,
    durationSeconds: durationOf(run, sums.lastOfPass),
  });
  await files.write('checkpoint.json', `${JSON.stringify(checkpoint.build(lastAt))}\n`);
  await files.write('statistics.json', `${JSON.stringify(statistics, null, 2)}\n`);
  await files.write(
    'README.md',
    datasetCard({
      runName: statistics.run_name,
      model: statistics.model,
      rows: joined.trajectories.rows,
      rehearsal: statistics.rehearsal,
    }),
  );
  return { coverage, statistics, files: joined };
}

async function readState(ledger: MergeDeps['ledger']): Promise<RunState> {
  const state = createRunState();
  for await (const entry of ledger.entries()) state.add(entry);
  return state;
}

async function joinFiles(
  { parts }: LedgerSums,
  state: RunState,
  files: RunFiles,
): Promise<MergeResult['files']> {
  const isLast = (promptId: string, attempt: number) => state.attempts(promptId) === attempt;
  return {
    trajectories: await files.joinBatches('trajectories.jsonl', 'batch', parts.batch),
    discarded: await files.joinBatches('discarded.jsonl', 'discarded', parts.discarded),
    failed: await files.joinBatches('failed.jsonl', 'failed', parts.failed, isLast),
  };
}

/** Counts the prompts of all passes; tells the checkpoint which of the latest dataset are owed. */
async function readDatasets(
  run: RunFile,
  state: RunState,
  checkpoint: CheckpointBuilder,
  deps: MergeDeps,
): Promise<Coverage> {
  const meter = createCoverageMeter(state);
  const plans = distinctPlans(run.passes);
  const latest = run.passes.at(-1);
  for (const pass of plans) {
    if (pass === latest) continue;
    for await (const { promptId } of promptsOfPass(pass, deps)) meter.planned(promptId);
  }
  if (latest === undefined) return meter.measure();
  // The latest dataset is read once for both: as planned by its pass, and as a whole.
  const limit = latest.max_samples ?? Number.POSITIVE_INFINITY;
  for await (const { promptId, promptIndex } of promptsOfDataset(latest, deps)) {
    if (promptIndex < limit) meter.planned(promptId);
    meter.inLatest(promptId);
    if (!state.isDone(promptId)) checkpoint.owe(promptIndex);
  }
  return meter.measure();
}

function durationOf(run: RunFile, lastOfPass: ReadonlyMap<number, string>): number {
  let seconds = 0;
  for (const { pass, started_at } of run.passes) {
    const last = lastOfPass.get(pass);
    if (last === undefined) continue;
    seconds += Math.max(0, (Date.parse(last) - Date.parse(started_at)) / 1000);
  }
  return seconds;
}
