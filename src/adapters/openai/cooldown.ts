import type { Clock } from '../../core/ports/clock.ts';
import { backoffCeiling } from './retry-delay.ts';

/** Longest extra wait by which calls are spread when a cooldown ends, in milliseconds. */
const MAX_SPREAD_MS = 2_000;

/** A pause that all calls of a model share, so that one burst of 429s costs nobody its retries. */
export interface Cooldown {
  /** Resolves when no pause is on; rejects with the signal's reason as soon as it aborts. */
  wait(signal: AbortSignal): Promise<void>;
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

export function createCooldown(deps: { clock: Clock; random(): number }): Cooldown {
  let until = Number.NEGATIVE_INFINITY;
  let setAt = Number.NEGATIVE_INFINITY;
  let spread = 0;
  let bursts = 0;

  return {
    async wait(signal) {
      signal.throwIfAborted();
      let left = until - deps.clock.monotonic();
      while (left > 0) {
        await deps.clock.sleep(left + deps.random() * spread, signal);
        signal.throwIfAborted();
        left = until - deps.clock.monotonic();
      }
    },
    refused(sentAt, askedMs) {
      const now = deps.clock.monotonic();
      const isNewBurst = sentAt >= until && sentAt >= setAt;
      if (isNewBurst) bursts += 1;
      else if (askedMs === undefined) return;
      const ceiling = backoffCeiling(bursts);
      const pause = askedMs ?? ceiling / 2 + (deps.random() * ceiling) / 2;
      if (isNewBurst) setAt = now;
      if (now + pause <= until) return;
      until = now + pause;
      spread = Math.min(MAX_SPREAD_MS, pause);
    },
    answered() {
      bursts = 0;
    },
    bursts: () => bursts,
  };
}
