import type { DispatchedBatches } from '../ports/dispatched-batches.ts';
import { closeLeftBatch, type LeftBatchDeps } from './close-left-batch.ts';
import type { RunRecord } from './run-record.ts';

/** At once. */
const MOST = 100;

export interface EarlierBatchesDeps extends LeftBatchDeps {
  batches: Pick<DispatchedBatches, 'open' | 'read' | 'attempts' | 'close'>;
}

/**
 * Closes what earlier passes of a run left open, with nothing ended: the pass that is being planned has
 * those prompts again. No launch of the run may be under way.
 */
export async function closeEarlierBatches(deps: EarlierBatchesDeps, run: RunRecord): Promise<void> {
  for (let closed = 1; closed > 0; ) {
    closed = 0;
    // The index lags behind: what is closed may still be in it.
    for (const { batch: number } of await deps.batches.open(run.run_name, MOST, run.pass)) {
      const [batch] = await deps.batches.read([{ run: run.run_name, batch: number }]);
      if (batch === undefined || batch.state === 'closed' || batch.state === 'merged') continue;
      // Nothing ends here, so that no attempt records the image.
      if (await closeLeftBatch(deps, { run, batch, image: batch.image }, undefined)) closed += 1;
    }
  }
}
