import type { RecordedAttempt } from '../ports/batch-work.ts';
import type { DispatchedBatches } from '../ports/dispatched-batches.ts';
import type { WorkerObjects } from '../ports/worker-objects.ts';
import type { Outcome } from '../trajectory/outcome.ts';
import { adoptSamples } from './adopt-samples.ts';
import type { AttemptRecord } from './attempt-record.ts';
import { createBatchBook } from './batch-book.ts';
import type { BatchRecord } from './batch-record.ts';
import { endWithoutTask } from './ended-without-task.ts';
import type { RunRecord } from './run-record.ts';

export interface LeftBatchDeps {
  batches: Pick<DispatchedBatches, 'attempts' | 'close'>;
  /** Stored rows of a run. */
  objects(run: string): Pick<WorkerObjects, 'samples' | 'sample'>;
  now(): number;
  log(message: string, fields: Record<string, unknown>): void;
}

export interface LeftBatch {
  run: RunRecord;
  batch: BatchRecord;
  /** Of its prompts, as their attempts record it. */
  image: string;
}

/**
 * Closes a batch that no task has: rows that a dead launch stored are adopted, the prompts left get
 * `end`, or stay without one where that is undefined. False where the batch changed meanwhile.
 */
export async function closeLeftBatch(
  deps: LeftBatchDeps,
  of: LeftBatch,
  end: { outcome: Outcome; reason: string } | undefined,
): Promise<boolean> {
  const { run, batch } = of;
  const name = { run: batch.run_name, batch: batch.batch };
  const attempts = await deps.batches.attempts(name);
  const adopted: RecordedAttempt[] = [];
  const book = createBatchBook(batch, attempts, {
    work: { record: async (one) => void adopted.push(one), setStarts: async () => undefined },
    maxAttempts: run.max_attempts,
  });
  if (batch.launch > 0) await adopt(deps, batch, attempts, book);
  const now = deps.now();
  const owed = book.progress().filter(({ hasEnded }) => !hasEnded);
  const ended = owed.flatMap((prompt) =>
    end === undefined
      ? []
      : [endWithoutTask({ ...of, now: new Date(now).toISOString() }, prompt, end)],
  );
  const ends = [
    ...adopted.map(({ prompt, attempt, ended: last }) => ({ ...prompt, attempt, prompt: last })),
    ...ended,
  ];
  const unfinished = owed.length - ended.length;
  const isClosed = await deps.batches.close(batch, { ends, unfinished }, now);
  const fields = { adopted: adopted.length, ended: ended.length, unfinished, ...end };
  if (isClosed) deps.log('batch closed', { ...name, ...fields });
  return isClosed;
}

async function adopt(
  deps: LeftBatchDeps,
  batch: BatchRecord,
  attempts: readonly AttemptRecord[],
  book: ReturnType<typeof createBatchBook>,
): Promise<void> {
  await adoptSamples(batch, attempts, {
    objects: deps.objects(batch.run_name),
    book,
    onLeft: ({ position, launch }, why) =>
      deps.log('a stored row is left where it is', {
        run: batch.run_name,
        batch: batch.batch,
        position,
        launch,
        why,
      }),
  });
}
