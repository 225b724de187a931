import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 10;

export interface TimeSlice {
  /** Lets others run once the slice is used up. Resolves to whether the time limit is reached. */
  pause(): Promise<boolean>;
  /** Whether it is time to call `pause`; cheap enough for every line. */
  isOver(): boolean;
}

/** Cuts long work into slices of 10 ms, so that it never holds up the event loop. */
export function createTimeSlice(limitMs: number): TimeSlice {
  const end = performance.now() + limitMs;
  let sliceEnd = performance.now() + SLICE_MS;
  return {
    isOver: () => performance.now() > sliceEnd,
    async pause() {
      await setImmediate();
      sliceEnd = performance.now() + SLICE_MS;
      return performance.now() > end;
    },
  };
}
