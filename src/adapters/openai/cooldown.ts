import type { Clock } from '../../core/ports/clock.ts';
import { backoffCeiling } from './retry-delay.ts';
import { sleepUnlessAborted, throwIfAnyAborted } from './sleep-unless-aborted.ts';

/** Longest extra wait by which calls are spread when a pause ends, in milliseconds. */
const MAX_SPREAD_MS = 2_000;
/** Calls in flight by which the window grows while as many are answered as it holds. */
const GROWTH = 2;

/**
 * What all calls of a model share so that one burst of 429s costs nobody its retries: a pause in
 * which nobody sends, and after it a window of calls in flight, halved by each burst and growing
 * again with each answer, so that the end of the pause is not the next burst.
 */
export interface Cooldown {
  /** Resolves when a call may be sent; rejects with the reason of a signal as soon as one aborts. */
  enter(...signals: readonly AbortSignal[]): Promise<void>;
  /** A call that had entered has ended, however. */
  leave(): void;
  /**
   * Starts or extends the pause after a refusal of a call sent at `sentAt` (monotonic). Without
   * `askedMs` its length grows with each burst in a row.
   */
  refused(sentAt: number, askedMs: number | undefined): void;
  /** A call was answered: the bursts in a row are over. */
  answered(): void;
  /** Bursts of refusals since the last answered call. */
  bursts(): number;
}

export function createCooldown(
  deps: { clock: Clock; random(): number },
  maxInFlight: number,
): Cooldown {
  let waiters: (() => void)[] = [];
  let window = Number.POSITIVE_INFINITY;
  let inFlight = 0;
  let until = Number.NEGATIVE_INFINITY;
  let spread = 0;
  let bursts = 0;

  async function pause(signals: readonly AbortSignal[]): Promise<void> {
    let left = until - deps.clock.monotonic();
    while (left > 0) {
      await sleepUnlessAborted(deps.clock, left + deps.random() * spread, signals);
      left = until - deps.clock.monotonic();
    }
  }

  function nextLeave(signals: readonly AbortSignal[]): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        for (const signal of signals) signal.removeEventListener('abort', wake);
        resolve();
      };
      for (const signal of signals) signal.addEventListener('abort', wake, { once: true });
      waiters.push(wake);
    });
  }

  return {
    async enter(...signals) {
      throwIfAnyAborted(signals);
      await pause(signals);
      while (inFlight >= window) {
        // A signal that aborted meanwhile will not call its listeners again.
        throwIfAnyAborted(signals);
        await nextLeave(signals);
        throwIfAnyAborted(signals);
        await pause(signals);
      }
      inFlight += 1;
    },
    leave() {
      inFlight -= 1;
      // All of them: one that was chosen might be aborted, and nobody would be woken in its place.
      const woken = waiters;
      waiters = [];
      for (const wake of woken) wake();
    },
    refused(sentAt, askedMs) {
      // Calls that were under way when the pause began belong to the burst that began it.
      const isNewBurst = sentAt >= until;
      if (!isNewBurst && askedMs === undefined) return;
      if (isNewBurst) {
        bursts += 1;
        window = Math.max(1, Math.floor(Math.min(window, inFlight) / 2));
      }
      const ceiling = backoffCeiling(bursts);
      const length = askedMs ?? ceiling / 2 + (deps.random() * ceiling) / 2;
      if (deps.clock.monotonic() + length <= until) return;
      until = deps.clock.monotonic() + length;
      spread = Math.min(MAX_SPREAD_MS, length);
    },
    answered() {
      bursts = 0;
      window += GROWTH / window;
      if (window >= maxInFlight) window = Number.POSITIVE_INFINITY;
    },
    bursts: () => bursts,
  };
}
