import type { BatchRecord } from '../batch-record.ts';
import type { RunRecord } from '../run-record.ts';
import { closeBatch } from './close-batch.ts';
import type { DispatchDeps, WorkTime } from './dispatch-deps.ts';
import { guarded } from './guarded.ts';

const MOST = 200;
const AT_ONCE = 10;
const CANCELLED = { outcome: 'failed/cancelled', reason: 'the run was cancelled' } as const;

/** Closes every open batch of a cancelled run of which no launch is under way. */
export async function closeOpenBatches(
  deps: DispatchDeps,
  time: WorkTime,
  run: RunRecord,
): Promise<void> {
  for (let closed = 1; closed > 0; ) {
    closed = 0;
    const open = await deps.batches.open(run.run_name, MOST);
    for (let at = 0; at < open.length; at += AT_ONCE) {
      if (!time.isLeft()) return;
      await time.hold();
      const some = open
        .slice(at, at + AT_ONCE)
        // Those beyond are of a plan that never came to run: nobody counts them.
        .filter(({ batch }) => batch < run.batches_total)
        .map(({ batch }) => ({ run: run.run_name, batch }));
      // The index lags behind: what is closed may still be in it.
      const now = (await deps.batches.read(some)).filter(isOpen);
      await Promise.all(
        now.map((batch) =>
          guarded(deps, { run: run.run_name, batch: batch.batch }, async () => {
            if (await closeBatch(deps, { run, batch }, CANCELLED)) closed += 1;
          }),
        ),
      );
    }
  }
}

function isOpen({ state }: BatchRecord): boolean {
  return state !== 'closed' && state !== 'merged';
}
