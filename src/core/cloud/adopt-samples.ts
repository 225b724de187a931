import { promptId } from '../dataset/prompt-id.ts';
import type { WorkerObjects } from '../ports/worker-objects.ts';
import { ledgerEntryOf } from '../run/ledger-entry.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { BatchBook } from './batch-book.ts';
import type { BatchRecord } from './batch-record.ts';
import type { PromptProgress } from './prompt-progress.ts';
import { type StoredSample, samplesToAdopt } from './samples-to-adopt.ts';

export interface AdoptDeps {
  objects: Pick<WorkerObjects, 'samples' | 'sample'>;
  book: BatchBook;
  /** Told of a row that is left where it is, and why. */
  onLeft(sample: StoredSample, why: string): void;
}

/**
 * Commits the rows that a launch stored and died before committing: paid for, so never bought again.
 * Resolves to how many.
 */
export async function adoptSamples(
  batch: BatchRecord,
  attempts: readonly AttemptRecord[],
  { objects, book, onLeft }: AdoptDeps,
): Promise<number> {
  let adopted = 0;
  for (const sample of samplesToAdopt(await objects.samples(batch.batch), attempts)) {
    const read = await objects.sample(batch.batch, sample).catch((error: Error) => error.message);
    if (typeof read === 'string') {
      onLeft(sample, read);
      continue;
    }
    const problem = problemOf(read.row, book.progress()[sample.position]);
    if (problem !== undefined) {
      onLeft(sample, problem);
      continue;
    }
    const entry = ledgerEntryOf(read.row, batch.pass, true);
    await book.commit({ ...sample, sampleKey: read.key, entry });
    adopted += 1;
  }
  return adopted;
}

/** A launch that was given up may have stored its row when another had tried the prompt again. */
function problemOf(row: Trajectory, of: PromptProgress | undefined): string | undefined {
  if (of === undefined) return 'the batch has no such prompt';
  if (of.hasEnded) return 'its prompt has ended since';
  const id = promptId(of.reference.hash, of.reference.occurrence);
  if (row.metadata.prompt_id !== id) return `it is a row of prompt ${row.metadata.prompt_id}`;
  if (row.timing.attempt === of.nextAttempt) return undefined;
  return `it is attempt ${row.timing.attempt}, expected attempt ${of.nextAttempt}`;
}
