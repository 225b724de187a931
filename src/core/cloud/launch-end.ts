import type { BatchRecord } from './batch-record.ts';
import type { LaunchRecord, TaskStop } from './launch-record.ts';
import { retryWaitMs } from './retry-wait.ts';
import { isForWantOfRoom, kindOfStop } from './stop-reason.ts';

/** Failed starts in a row, after which an image is given up. */
export const MOST_FAILED_STARTS = 3;
/** Stops in a row before any claim, after which a run pauses. */
export const MOST_UNCLAIMED_STOPS = 10;

/** What changes of the batch; its `launch` stays. */
export type BatchChange = Pick<
  BatchRecord,
  'state' | 'lease_until' | 'unclaimed' | 'careful' | 'starts'
>;

export interface LaunchEnd {
  /** Undefined where the worker left the batch in order: closed, or handed back. */
  change: BatchChange | undefined;
  /** `raise`: this stop is the image's fault; `reset`: it works. */
  image: 'raise' | 'reset' | 'keep';
  /** The same for stops of the run before any claim. */
  run: 'raise' | 'reset' | 'keep';
}

/**
 * What a task's end means for its batch, its image and its run. `hasOthers`: the run has further
 * launches under way.
 */
export function launchEnd(
  launch: LaunchRecord,
  batch: BatchRecord | undefined,
  stop: TaskStop,
  at: { now: number; hasOthers: boolean },
): LaunchEnd {
  if (batch === undefined || batch.launch !== launch.launch) {
    return { change: undefined, image: 'keep', run: 'keep' };
  }
  return batch.state === 'launching'
    ? unclaimedEnd(launch, batch, stop, at)
    : claimedEnd(launch, batch, stop, at.now);
}

function unclaimedEnd(
  launch: LaunchRecord,
  batch: BatchRecord,
  stop: TaskStop,
  { now, hasOthers }: { now: number; hasOthers: boolean },
): LaunchEnd {
  const change = backOff(batch, now);
  if (kindOfStop(stop) === 'image') return { change, image: 'raise', run: 'keep' };
  if (!isForWantOfRoom(stop)) return { change, image: 'keep', run: 'raise' };
  // Without Spot there may be room: at once, and under a new launch number.
  if (launch.spot) return { change: { ...change, lease_until: now }, image: 'keep', run: 'keep' };
  // A full quota says nothing about a run that fills it.
  return { change, image: 'keep', run: hasOthers ? 'keep' : 'raise' };
}

function claimedEnd(
  launch: LaunchRecord,
  batch: BatchRecord,
  stop: TaskStop,
  now: number,
): LaunchEnd {
  const kind = kindOfStop(stop);
  const isBegun = hasBegun(launch, batch);
  // Who claims and does nothing, again and again, would be started for ever.
  const idle = kind === 'interrupted' ? 'keep' : 'raise';
  const run = isBegun || isClosed(batch) ? 'reset' : idle;
  if (kind === 'image' && batch.remaining === launch.remaining) {
    const change = batch.state === 'running' ? backOff(batch, now) : undefined;
    return { change, image: 'raise', run: 'keep' };
  }
  const image = run === 'reset' ? 'reset' : 'keep';
  if (batch.state !== 'running') return { change: undefined, image, run };
  const change = isBegun
    ? notHandedBack(batch, kind === 'interrupted', now)
    : { ...backOff(batch, now), careful: true };
  return { change, image, run };
}

/** Whether a launch did anything for its batch: a prompt was begun, or has ended. */
export function hasBegun(launch: LaunchRecord, batch: BatchRecord): boolean {
  return (
    batch.remaining < launch.remaining ||
    batch.begun_by === launch.launch ||
    startsOf(batch) > launch.starts
  );
}

/** Starts of prompts without an end. */
export function startsOf({ starts }: Pick<BatchRecord, 'starts'>): number {
  return Object.values(starts).reduce((sum, count) => sum + count, 0);
}

function isClosed({ state }: BatchRecord): boolean {
  return state === 'closed' || state === 'merged';
}

function backOff(batch: BatchRecord, now: number): BatchChange {
  const unclaimed = batch.unclaimed + 1;
  return {
    state: 'waiting',
    lease_until: now + retryWaitMs(unclaimed),
    unclaimed,
    careful: batch.careful,
    starts: batch.starts,
  };
}

function notHandedBack(batch: BatchRecord, isInterrupted: boolean, now: number): BatchChange {
  const starts = isInterrupted
    ? Object.fromEntries(
        Object.entries(batch.starts).map(([position, n]) => [position, Math.max(0, n - 1)]),
      )
    : batch.starts;
  return { state: 'waiting', lease_until: now, unclaimed: 0, careful: true, starts };
}
