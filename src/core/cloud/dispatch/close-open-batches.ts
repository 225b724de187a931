import type { BatchRecord } from '../batch-record.ts';
import type { RunRecord } from '../run-record.ts';
import { closeBatch, imageOf } from './close-batch.ts';
import type { DispatchDeps, WorkTime } from './dispatch-deps.ts';

/** At once. */
const MOST = 100;
const CANCELLED = { outcome: 'failed/cancelled', reason: 'the run was cancelled' } as const;

/** Closes every open batch of a cancelled run of which no launch is under way. */
export async function closeOpenBatches(
  deps: DispatchDeps,
  time: WorkTime,
  run: RunRecord,
): Promise<void> {
  for (let closed = 1; closed > 0; ) {
    closed = 0;
    // The index lags behind: what is closed may still be in it.
    for (const { batch: number } of await deps.batches.open(run.run_name, MOST)) {
      if (!time.isLeft()) return;
      await time.hold();
      const [batch] = await deps.batches.read([{ run: run.run_name, batch: number }]);
      if (batch !== undefined && (await closeIfOpen(deps, run, batch))) closed += 1;
    }
  }
}

async function closeIfOpen(
  deps: DispatchDeps,
  run: RunRecord,
  batch: BatchRecord,
): Promise<boolean> {
  if (batch.state === 'closed' || batch.state === 'merged') return false;
  return await closeBatch(deps, { run, batch, image: imageOf(deps, run, batch) }, CANCELLED);
}
