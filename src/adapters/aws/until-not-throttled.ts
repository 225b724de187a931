import { setTimeout as delay } from 'node:timers/promises';

const THROTTLED = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
]);
const FIRST_WAIT_MS = 50;
const MOST_WAIT_MS = 5_000;
const TRIES = 30;

/**
 * Makes a call of the table again and again while it is throttled: a table that has just begun to be
 * written to grows with its load, and takes longer for it than the client's own tries.
 */
export async function untilNotThrottled<T>(call: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await call();
    } catch (error) {
      const isThrottled = error instanceof Error && THROTTLED.has(error.name);
      if (!isThrottled || tried === TRIES) throw error;
      const ceiling = Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** tried);
      await delay(ceiling / 2 + (ceiling / 2) * Math.random());
    }
  }
}
