import type { PlannedBatch, PlannedPrompt } from './plan-batches.ts';

/**
 * The same batches, read on until the prompts of those that wait are at least `count`; says of each
 * prompt, in order, that it will be run, before its batch is given out. An error of the plan comes
 * where it would have come: after the batches before it.
 */
export async function* lookAhead(
  batches: AsyncIterable<PlannedBatch>,
  count: number,
  onPrompt: (prompt: PlannedPrompt) => void,
): AsyncGenerator<PlannedBatch> {
  const plan = batches[Symbol.asyncIterator]();
  const waiting: PlannedBatch[] = [];
  let known = 0;
  let failure: { error: unknown } | undefined;
  let isRead = false;

  async function readOne(): Promise<void> {
    try {
      const next = await plan.next();
      if (next.done === true) {
        isRead = true;
        return;
      }
      waiting.push(next.value);
      known += next.value.prompts.length;
      for (const prompt of next.value.prompts) onPrompt(prompt);
    } catch (error) {
      failure = { error };
      isRead = true;
    }
  }

  try {
    for (;;) {
      while (!isRead && (waiting.length === 0 || known - first(waiting) < count)) await readOne();
      const batch = waiting.shift();
      if (batch === undefined) break;
      known -= batch.prompts.length;
      yield batch;
    }
    if (failure !== undefined) throw failure.error;
  } finally {
    await plan.return?.();
  }
}

/** Prompts of the batch that is given out next: they wait no longer then. */
function first(waiting: readonly PlannedBatch[]): number {
  return waiting[0]?.prompts.length ?? 0;
}
