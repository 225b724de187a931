import type { Outcome } from '../../trajectory/outcome.ts';
import type { BatchRecord } from '../batch-record.ts';
import { endWithoutTask } from '../ended-without-task.ts';
import { promptProgress } from '../prompt-progress.ts';
import type { RunRecord } from '../run-record.ts';
import type { DispatchDeps } from './dispatch-deps.ts';

/** Ends all that a batch owes, without a task, and closes it; false where it changed meanwhile. */
export async function closeBatch(
  deps: DispatchDeps,
  of: { run: RunRecord; batch: BatchRecord; image: string },
  end: { outcome: Outcome; reason: string },
): Promise<boolean> {
  const { run, batch } = of;
  const name = { run: batch.run_name, batch: batch.batch };
  const attempts = await deps.batches.attempts(name);
  const now = deps.clock.now();
  const ends = promptProgress(batch, attempts, run.max_attempts)
    .filter(({ hasEnded }) => !hasEnded)
    .map((owed) => endWithoutTask({ ...of, now: new Date(now).toISOString() }, owed, end));
  const isClosed = await deps.batches.close(batch, ends, now);
  if (isClosed) deps.log('batch_closed', { ...name, prompts: ends.length, ...end });
  return isClosed;
}

/** The image of a batch, named in full: the run's default, or the stack's, for rows without. */
export function imageOf(deps: DispatchDeps, run: RunRecord, batch: BatchRecord): string {
  return batch.image || run.default_image || deps.settings.defaultImage;
}
