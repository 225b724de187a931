import { parseDatasetRow } from '../dataset/dataset-row.ts';
import type { BatchObjects } from '../ports/batch-objects.ts';
import type { MergeProgress } from '../ports/merge-progress.ts';
import { BATCH_KINDS, batchKind } from '../run/batch-kind.ts';
import type { LedgerEntry } from '../run/ledger-entry.ts';
import { type RunFile, runFileSchema } from '../run/manifest.ts';
import { drawToolsets } from '../toolsets/draw-toolsets.ts';
import { type Trajectory, trajectoryLine, trajectorySchema } from '../trajectory/trajectory.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { BatchRecord } from './batch-record.ts';
import { runKeys } from './bucket-keys.ts';
import { rowOfEntry } from './row-of-entry.ts';

export interface MergeBatchDeps {
  progress: Pick<MergeProgress, 'batch' | 'attempts' | 'batchMerged'>;
  objects: BatchObjects;
  sha256Hex(text: string): string;
}

/** One attempt as the files have it. */
interface MergedAttempt {
  entry: LedgerEntry;
  /** Its row without the newline. */
  line: string;
}

/** What the table and the bucket say of a batch does not fit together. */
export class BatchMergeError extends Error {
  override readonly name = 'BatchMergeError';
}

/** Samples that are read at once. */
const READ_AT_ONCE = 16;

/**
 * Makes the files of a closed batch: rows of all attempts in plan order by kind, and the batch's
 * ledger; then counts it as merged. May be called again at any point, and twice at once. Resolves
 * to false for a batch that is not closed (yet). A row that is missing is an error that names it.
 */
export async function mergeBatch(
  runName: string,
  number: number,
  deps: MergeBatchDeps,
): Promise<boolean> {
  const batch = await deps.progress.batch(runName, number);
  if (batch === undefined) throw new BatchMergeError(`run ${runName} has no batch ${number}`);
  if (batch.state === 'merged') return true;
  if (batch.state !== 'closed') return false;
  const attempts = await deps.progress.attempts(runName, number);
  refuseUnended(batch, attempts);
  const merged = await mergedOf(batch, attempts, deps);
  const keys = runKeys(runName);
  for (const kind of BATCH_KINDS) {
    const of = merged.filter(({ entry }) => batchKind(entry.outcome) === kind);
    if (of.length === 0) continue;
    await deps.objects.putOnce(
      keys.batch(kind, number),
      joined(of, ({ line }) => line),
      of.length,
    );
  }
  // Last: a batch in the ledger has its files.
  const ledger = joined(merged, ({ entry }) => JSON.stringify(entry));
  await deps.objects.putOnce(keys.batchLedger(number), ledger, merged.length);
  await deps.progress.batchMerged(runName, number);
  return true;
}

function joined<T>(items: readonly T[], line: (item: T) => string): string {
  return items.map((item) => `${line(item)}\n`).join('');
}

/** A batch closes when every prompt has ended, but for those that an early close left. */
function refuseUnended(batch: BatchRecord, attempts: readonly AttemptRecord[]): void {
  const seen = new Set(attempts.map(({ position }) => position));
  const without = batch.prompts.length - seen.size;
  if (without <= batch.unfinished) return;
  throw new BatchMergeError(
    `batch ${batch.batch} of run ${batch.run_name} is closed, but ${without} of its prompts have no attempt (${batch.unfinished} are known to be unfinished)`,
  );
}

async function mergedOf(
  batch: BatchRecord,
  attempts: readonly AttemptRecord[],
  deps: MergeBatchDeps,
): Promise<MergedAttempt[]> {
  const merged: MergedAttempt[] = [];
  for (let from = 0; from < attempts.length; from += READ_AT_ONCE) {
    const some = attempts.slice(from, from + READ_AT_ONCE);
    merged.push(...(await Promise.all(some.map((attempt) => mergedAttempt(batch, attempt, deps)))));
  }
  return merged;
}

async function mergedAttempt(
  batch: BatchRecord,
  attempt: AttemptRecord,
  deps: MergeBatchDeps,
): Promise<MergedAttempt> {
  if (attempt.sample_key === '') return await withoutSample(batch, attempt, deps);
  const line = (await deps.objects.text(attempt.sample_key)).replace(/\n$/, '');
  refuseOther(line, attempt);
  return { entry: attempt.entry, line };
}

/** The row that an object holds must be the one of its attempt. */
function refuseOther(line: string, { sample_key: key, entry }: AttemptRecord): void {
  const row = parseRow(line, key);
  const fits =
    !line.includes('\n') &&
    row.metadata.prompt_id === entry.prompt_id &&
    row.timing.attempt === entry.timing.attempt &&
    row.outcome === entry.outcome;
  if (fits) return;
  throw new BatchMergeError(
    `${key}: expected attempt ${entry.timing.attempt} of ${entry.prompt_id} (${entry.outcome}) as one line, got attempt ${row.timing.attempt} of ${row.metadata.prompt_id} (${row.outcome})`,
  );
}

function parseRow(line: string, key: string): Trajectory {
  try {
    return trajectorySchema.parse(JSON.parse(line));
  } catch (cause) {
    throw new BatchMergeError(`${key}: expected a row as one line of JSON`, { cause });
  }
}

/** No worker ran it: its row is made of its entry and its dataset row. */
async function withoutSample(
  batch: BatchRecord,
  { position, entry }: AttemptRecord,
  { objects, sha256Hex }: MergeBatchDeps,
): Promise<MergedAttempt> {
  const keys = runKeys(batch.run_name);
  const reference = batch.prompts[position];
  if (reference === undefined) {
    throw new BatchMergeError(
      `batch ${batch.batch} of run ${batch.run_name} has an attempt at position ${position}, but ${batch.prompts.length} prompts`,
    );
  }
  const run = runFileSchema.parse(JSON.parse(await objects.text(keys.manifest)));
  const pass = run.passes.find((of) => of.pass === batch.pass);
  const input = keys.input(pass?.input_of_pass ?? batch.pass);
  const text = await objects.textAt(input, reference.offset, reference.length);
  const row = parseDatasetRow(text);
  if (!row.ok) {
    throw new BatchMergeError(`${input}: no row at byte ${reference.offset}: ${row.reason}`);
  }
  const whole = { ...entry, toolsets: drawnToolsets(run, entry, sha256Hex) };
  return { entry: whole, line: trajectoryLine(rowOfEntry(whole, batch.run_name, row.row)) };
}

/** As a worker would have drawn them: who ended the prompt without one may not know. */
function drawnToolsets(
  { manifest, seed = 0 }: RunFile,
  { prompt_id: promptId, toolsets }: LedgerEntry,
  sha256Hex: (text: string) => string,
): string[] {
  if (toolsets.length > 0) return toolsets;
  return drawToolsets({
    distribution: { ...manifest.distribution, description: '' },
    available: new Set(manifest.available_toolsets),
    seed,
    promptId,
    sha256Hex,
  });
}
