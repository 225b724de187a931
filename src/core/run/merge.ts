import type { Ledger } from '../ports/ledger.ts';
import type { BatchPart, JoinedFile, RunFiles } from '../ports/run-files.ts';
import { BATCH_KINDS, type BatchKind, batchKind } from './batch-kind.ts';
import { createCheckpoint } from './checkpoint.ts';
import { type Coverage, measureCoverage } from './coverage.ts';
import { datasetCard } from './dataset-card.ts';
import type { LedgerEntry } from './ledger-entry.ts';
import type { PassRecord, RunFile } from './manifest.ts';
import { type PlannedPrompt, promptsOf } from './plan-batches.ts';
import { createRunState, type RunState } from './run-state.ts';
import { type Statistics, statisticsOf } from './statistics.ts';
import { createTally, type Tally, tallyAttempt, tallyPrompt } from './tally.ts';

export interface MergeDeps {
  ledger: Ledger;
  files: RunFiles;
  /** The rows that a pass planned from. */
  inputRows(pass: PassRecord): Parameters<typeof promptsOf>[0];
  sha256Hex(text: string): string;
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
  const state = await readState(deps.ledger);
  const sums = await readSums(deps.ledger, state);
  const coverage = await coverageOf(run, state, deps);
  const { files } = deps;

  const joined = {
    trajectories: await files.joinBatches('trajectories.jsonl', 'batch', sums.parts.batch),
    discarded: await files.joinBatches('discarded.jsonl', 'discarded', sums.parts.discarded),
    failed: await files.joinBatches(
      'failed.jsonl',
      'failed',
      sums.parts.failed,
      (promptId, attempt) => state.attempts(promptId) === attempt,
    ),
  };
  const lastAt = sums.lastAt ?? run.manifest.created_at;
  const statistics = statisticsOf({
    run,
    tally: sums.tally,
    coverage,
    batches: sums.batches,
    lastAt,
    durationSeconds: durationOf(run, sums.lastOfPass),
  });
  await writeCheckpoint(run, state, lastAt, deps);
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

async function readState(ledger: Ledger): Promise<RunState> {
  const state = createRunState();
  for await (const entry of ledger.entries()) state.add(entry);
  return state;
}

interface Sums {
  tally: Tally;
  parts: Record<BatchKind, BatchPart[]>;
  batches: number;
  lastAt: string | undefined;
  lastOfPass: Map<number, string>;
}

async function readSums(ledger: Ledger, state: RunState): Promise<Sums> {
  const tally = createTally();
  const rows: Record<BatchKind, Map<number, number>> = {
    batch: new Map(),
    discarded: new Map(),
    failed: new Map(),
  };
  const batches = new Set<number>();
  const lastOfPass = new Map<number, string>();
  let lastAt: string | undefined;
  for await (const entry of ledger.entries()) {
    tallyAttempt(tally, entry);
    if (entry.timing.attempt === state.attempts(entry.prompt_id)) tallyPrompt(tally, entry);
    const of = rows[batchKind(entry.outcome)];
    of.set(entry.batch, (of.get(entry.batch) ?? 0) + 1);
    batches.add(entry.batch);
    lastAt = later(lastAt, entry);
    lastOfPass.set(entry.pass, later(lastOfPass.get(entry.pass), entry));
  }
  const parts = Object.fromEntries(
    BATCH_KINDS.map((kind) => [kind, inOrder(rows[kind])]),
  ) as Sums['parts'];
  return { tally, parts, batches: batches.size, lastAt, lastOfPass };
}

function later(than: string | undefined, { timing }: LedgerEntry): string {
  return than === undefined || timing.ended_at > than ? timing.ended_at : than;
}

/** By number, not by the text of the file name: 2 comes before 10. */
function inOrder(rows: ReadonlyMap<number, number>): BatchPart[] {
  return [...rows].map(([batch, of]) => ({ batch, rows: of })).sort((a, b) => a.batch - b.batch);
}

async function coverageOf(run: RunFile, state: RunState, deps: MergeDeps): Promise<Coverage> {
  const latest = run.passes.at(-1);
  if (latest === undefined) return await measureCoverage(state, none(), none());
  return await measureCoverage(
    state,
    plannedIds(run.passes, deps),
    idsOf(promptsOfPass({ ...latest, max_samples: null }, deps)),
  );
}

async function* plannedIds(passes: readonly PassRecord[], deps: MergeDeps) {
  const seen = new Set<string>();
  for (const pass of passes) {
    // Passes over an unchanged dataset plan the same prompts: once is enough.
    const key = JSON.stringify([pass.input_of_pass, pass.samples_per_prompt, pass.max_samples]);
    if (seen.has(key)) continue;
    seen.add(key);
    yield* idsOf(promptsOfPass(pass, deps));
  }
}

/** The prompts that a pass planned, done or not. */
export function promptsOfPass(
  pass: PassRecord,
  deps: Pick<MergeDeps, 'inputRows' | 'sha256Hex'>,
): AsyncGenerator<PlannedPrompt> {
  return promptsOf(deps.inputRows(pass), {
    samplesPerPrompt: pass.samples_per_prompt,
    maxSamples: pass.max_samples ?? undefined,
    sha256Hex: deps.sha256Hex,
  });
}

async function* idsOf(prompts: AsyncIterable<PlannedPrompt>): AsyncGenerator<string> {
  for await (const { promptId } of prompts) yield promptId;
}

async function* none(): AsyncGenerator<string> {}

async function writeCheckpoint(
  run: RunFile,
  state: RunState,
  lastAt: string,
  deps: MergeDeps,
): Promise<void> {
  const latest = run.passes.at(-1);
  const checkpoint = createCheckpoint(run.run_name ?? '', latest?.rows ?? 0);
  if (latest !== undefined) {
    const whole = { ...latest, max_samples: null };
    for await (const { promptId, promptIndex } of promptsOfPass(whole, deps)) {
      if (!state.isDone(promptId)) checkpoint.owe(promptIndex);
    }
  }
  for await (const entry of deps.ledger.entries()) checkpoint.addEntry(entry);
  await deps.files.write('checkpoint.json', `${JSON.stringify(checkpoint.build(lastAt))}\n`);
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
