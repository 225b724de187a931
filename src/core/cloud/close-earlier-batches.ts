import type { DispatchedBatches } from '../ports/dispatched-batches.ts';
import { closeLeftBatch, type LeftBatchDeps } from './close-left-batch.ts';
import type { RunRecord } from './run-record.ts';

const MOST = 200;
const AT_ONCE = 10;

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
    const open = await deps.batches.open(run.run_name, MOST, run.pass);
    for (let at = 0; at < open.length; at += AT_ONCE) {
      const some = open.slice(at, at + AT_ONCE).map(({ batch }) => ({ run: run.run_name, batch }));
      // The index lags behind: what is closed may still be in it.
      const left = (await deps.batches.read(some)).filter(
        ({ state }) => state !== 'closed' && state !== 'merged',
      );
      // Nothing ends here, so that no attempt records the image.
      const became = await Promise.all(
        left.map((batch) => closeLeftBatch(deps, { run, batch, image: batch.image }, undefined)),
      );
      closed += became.filter(Boolean).length;
    }
  }
}
