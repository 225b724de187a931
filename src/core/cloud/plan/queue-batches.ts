import type { BatchQueue } from '../../ports/batch-queue.ts';
import type { DispatchedBatches } from '../../ports/dispatched-batches.ts';
import type { BatchMessage, BatchRecord } from '../batch-record.ts';
import { createInFlight } from './in-flight.ts';
import type { PlanHold } from './plan-hold.ts';

const READ = 100;
const WRITES_AT_ONCE = 32;

export interface QueueDeps {
  batches: Pick<DispatchedBatches, 'read' | 'queue'>;
  queue: BatchQueue;
  now(): number;
  log(level: 'info' | 'error', message: string, fields: Record<string, unknown>): void;
}

/**
 * Sends a message for each batch of the pass that still waits, once all of them are there. A batch is
 * `queued` first, as a message of one that is not is stale; one whose message is lost is the sweep's.
 */
export async function queueBatches(hold: PlanHold, deps: QueueDeps): Promise<number> {
  const { run_name: run, batches_total: end } = hold.run;
  let sent = 0;
  for (let from = hold.planner.first_batch; from < end; from += READ) {
    await hold.touch();
    const length = Math.min(READ, end - from);
    const ids = Array.from({ length }, (_, at) => ({ run, batch: from + at }));
    const queued = await queueWaiting(await deps.batches.read(ids), deps);
    const refused = await deps.queue.send(queued.map(messageOf));
    sent += queued.length - refused.length;
    if (refused.length > 0) {
      const numbers = refused.map(({ batch }) => batch);
      deps.log('error', 'messages were refused; the sweep sends them', { run, batches: numbers });
    }
  }
  return sent;
}

async function queueWaiting(read: readonly BatchRecord[], deps: QueueDeps): Promise<BatchRecord[]> {
  const queued: BatchRecord[] = [];
  const writes = createInFlight(WRITES_AT_ONCE);
  for (const batch of [...read].sort((a, b) => a.batch - b.batch)) {
    if (batch.state !== 'waiting' || batch.launch > 0) continue;
    await writes.add(async () => {
      if (await deps.batches.queue(batch, deps.now())) queued.push(batch);
    });
  }
  await writes.drain();
  return queued.sort((a, b) => a.batch - b.batch);
}

function messageOf({ run_name: run, pass, batch, image, prompts }: BatchRecord): BatchMessage {
  return { v: 1, run, pass, batch, image, prompts };
}
