import type { PlannedBatches } from '../../ports/planned-batches.ts';
import type { BatchRecord } from '../batch-record.ts';
import { createInFlight } from './in-flight.ts';
import type { PlanHold } from './plan-hold.ts';
import type { ReferencedBatch } from './plan-references.ts';

const PUTS_AT_ONCE = 32;

/**
 * Puts the planned batches, numbered from the run's total on; those that an earlier try put are left
 * out without a call. Resolves to how many the pass has, when all are there.
 */
export async function putBatches(
  planned: AsyncIterable<ReferencedBatch>,
  hold: PlanHold,
  batches: PlannedBatches,
): Promise<number> {
  const { run_name: runName, pass, batches_total: first } = hold.run;
  const there = hold.planner.batches_put;
  const puts = createInFlight(PUTS_AT_ONCE);
  let count = 0;
  const progress = async () => {
    await puts.drain();
    return Math.max(there, count);
  };
  try {
    for await (const { image, prompts } of planned) {
      const record = waitingBatch({ runName, pass, batch: first + count, image, prompts });
      if (count >= there) await puts.add(() => batches.put(record));
      count += 1;
      await hold.touch(progress);
    }
    await puts.drain();
  } finally {
    // What was begun must not go on behind the caller's back.
    await puts.drain().catch(() => undefined);
  }
  await batches.removeFrom(runName, first + count, pass);
  return count;
}

/** Longest reference that is stored: one that is longer names no image, and the table has its limits. */
const MAX_IMAGE = 1024;

function waitingBatch(of: {
  runName: string;
  pass: number;
  batch: number;
  image: string;
  prompts: BatchRecord['prompts'];
}): BatchRecord {
  return {
    run_name: of.runName,
    batch: of.batch,
    pass: of.pass,
    state: 'waiting',
    image: of.image.slice(0, MAX_IMAGE),
    prompts: of.prompts,
    remaining: of.prompts.length,
    unfinished: 0,
    launch: 0,
    lease_until: 0,
    task_arn: '',
    spot: false,
    unclaimed: 0,
    starts: {},
    careful: false,
    queued_at: 0,
    closed_at: 0,
  };
}
