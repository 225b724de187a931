import { type BatchOfPass, type RunBatchDeps, runBatch } from '../work/run-batch.ts';
import type { PlannedBatch } from './plan-batches.ts';

export interface RunPassDeps extends RunBatchDeps {
  /** Called when a batch's final files are written. */
  onBatchClosed(batch: number): Promise<void>;
}

export interface PassPlan {
  pass: number;
  maxAttempts: number;
  /** The first batch number of this pass: above every number that the run has used. */
  firstBatch: number;
  batches: AsyncIterable<PlannedBatch>;
}

/**
 * Runs all batches of a pass. A further batch starts as soon as a slot has nobody waiting for it, so
 * that slots stay busy over the ends of batches and few batches are open at a time. Resolves when
 * every started batch is closed; rejects with the first error of storage or plan, after all have
 * settled.
 */
export async function runPass(plan: PassPlan, deps: RunPassDeps): Promise<void> {
  const running = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;
  let number = plan.firstBatch;

  async function start(batch: PlannedBatch, of: BatchOfPass) {
    deps.observer.batchStarted(of.number, batch.prompts.length, batch.image);
    try {
      await runBatch(of, deps);
      await deps.onBatchClosed(of.number);
    } catch (error) {
      failure ??= { error };
      deps.stop.fail(error);
    }
  }

  try {
    for await (const batch of plan.batches) {
      if (deps.stop.handBack.aborted || !deps.mayStart()) break;
      const { pass, maxAttempts } = plan;
      const work = start(batch, { number, pass, maxAttempts, prompts: batch.prompts });
      running.add(work);
      void work.finally(() => running.delete(work));
      number += 1;
      await deps.slots.free();
    }
  } catch (error) {
    // The plan can't be read on: what was started ends first, since its owner closes the ledger.
    failure ??= { error };
    deps.stop.fail(error);
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure.error;
}
