import type { BatchRecord } from './batch-record.ts';
import { hasBegun } from './launch-end.ts';
import type { LaunchRecord, TaskStop } from './launch-record.ts';
import { LEASE_RAN_OUT, OUR_STOP } from './stop-reason.ts';

/** From a launch's claim until its worker has to have claimed the batch. */
export const CLAIM_MS = 15 * 60_000;
/** ECS may not know a task yet that it has just started. */
const UNKNOWN_MS = 5 * 60_000;
/** What a worker needs after its batch's end, to stop. */
const LEAVE_MS = 10 * 60_000;

export type LaunchTask =
  | { state: 'alive' }
  | { state: 'stopped'; stop: TaskStop }
  | { state: 'missing' };

export type LaunchNext =
  | { do: 'end'; stop: TaskStop }
  | { do: 'stop'; reason: string }
  | { do: 'note_claim' }
  | { do: 'nothing' };

/** What to do with a launch, by its task and its batch. */
export function nextOfLaunch(
  launch: LaunchRecord,
  batch: BatchRecord | undefined,
  task: LaunchTask,
  now: number,
): LaunchNext {
  if (task.state === 'stopped') return { do: 'end', stop: task.stop };
  if (task.state === 'alive') return nextWhileAlive(launch, batch, now);
  const stop = { code: '', reason: 'ECS no longer knows the task', containers: [] };
  return now - launch.launched_at > UNKNOWN_MS ? { do: 'end', stop } : { do: 'nothing' };
}

function nextWhileAlive(
  launch: LaunchRecord,
  batch: BatchRecord | undefined,
  now: number,
): LaunchNext {
  if (batch === undefined || batch.launch !== launch.launch) {
    return { do: 'stop', reason: `${OUR_STOP}its batch is another launch's` };
  }
  if (batch.state === 'launching' || batch.state === 'running') {
    // The task goes on until ECS says that it has stopped: only then may another one start.
    if (batch.lease_until <= now) return { do: 'stop', reason: LEASE_RAN_OUT };
    return batch.state === 'running' && !launch.is_claimed && hasBegun(launch, batch)
      ? { do: 'note_claim' }
      : { do: 'nothing' };
  }
  return now - leftAt(batch, launch) > LEAVE_MS
    ? { do: 'stop', reason: `${OUR_STOP}its work has ended` }
    : { do: 'nothing' };
}

/** When a worker was done with its batch. */
function leftAt(batch: BatchRecord, launch: LaunchRecord): number {
  // Handed back, its lease is when that was; closed, it has a time of its own.
  const left = batch.state === 'waiting' ? batch.lease_until : batch.closed_at;
  return Math.max(left, launch.launched_at);
}
