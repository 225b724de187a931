import type { BatchRecord } from '../batch-record.ts';
import { closeLeftBatch, type LeftBatch, type LeftBatchDeps } from '../close-left-batch.ts';
import type { RunRecord } from '../run-record.ts';
import type { DispatchDeps } from './dispatch-deps.ts';

/** Closes a batch of a run that goes no further, with an end for all that it owes. */
export async function closeBatch(
  deps: DispatchDeps,
  of: Omit<LeftBatch, 'image'>,
  end: NonNullable<Parameters<typeof closeLeftBatch>[2]>,
): Promise<boolean> {
  const image = imageOf(deps, of.run, of.batch);
  return await closeLeftBatch(leftBatchDeps(deps), { ...of, image }, end);
}

function leftBatchDeps({ batches, objects, clock, log }: DispatchDeps): LeftBatchDeps {
  return { batches, objects, now: clock.now, log: (message, fields) => log(message, fields) };
}

/** The image of a batch, named in full: the run's default, or the stack's, for rows without. */
export function imageOf(deps: DispatchDeps, run: RunRecord, batch: BatchRecord): string {
  return batch.image || run.default_image || deps.settings.defaultImage;
}
