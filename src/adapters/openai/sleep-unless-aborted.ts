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
  await clock.sleep(milliseconds, AbortSignal.any([...signals]));
  throwIfAnyAborted(signals);
}
