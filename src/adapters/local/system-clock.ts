import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../core/ports/clock.ts';

/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** This machine's clocks. Waiting keeps no process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(milliseconds, signal) {
    const capped = Math.min(milliseconds, LONGEST_TIMER_MS);
    await delay(capped, undefined, { ref: false, ...(signal && { signal }) }).catch(
      () => undefined,
    );
  },
};
