import type { Clock } from '../../../src/core/ports/clock.ts';

export interface FastClock extends Clock {
  /** Milliseconds of every sleep asked for, in order. */
  sleeps: number[];
}

/** A clock on which sleeping takes no real time but moves the time on. */
export function fastClock(startMs = Date.UTC(2026, 0, 1)): FastClock {
  let elapsed = 0;
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => startMs + elapsed,
    monotonic: () => elapsed,
    async sleep(milliseconds) {
      sleeps.push(milliseconds);
      const wakeAt = elapsed + milliseconds;
      await new Promise((resolve) => setTimeout(resolve, 1));
      elapsed = Math.max(elapsed, wakeAt);
    },
  };
}
