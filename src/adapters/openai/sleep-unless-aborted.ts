import type { Clock } from '../../core/ports/clock.ts';

/** Throws the reason of the first signal that has aborted. */
export function throwIfAnyAborted(signals: readonly AbortSignal[]): void {
  for (const signal of signals) signal.throwIfAborted();
}

/** Sleeps, but throws the reason of a signal as soon as one aborts. */
export async function sleepUnlessAborted(
  clock: Clock,
  milliseconds: number,
  signals: readonly AbortSignal[],
): Promise<void> {
  throwIfAnyAborted(signals);
  // AbortSignal.any would keep one entry per sleep on a signal that lives as long as the run.
  const either = new AbortController();
  const abort = () => either.abort();
  for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
  try {
    await clock.sleep(milliseconds, either.signal);
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  }
  throwIfAnyAborted(signals);
}
