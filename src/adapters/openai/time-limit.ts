import { setMaxListeners } from 'node:events';

/** Timers of Node take no more milliseconds than this. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs `task` with a signal that aborts with `signal`, or after `milliseconds`. Gives what it
 * resolves to, or `'timeout'`. Rejects as `task` does, and with the signal's reason if that aborts.
 */
export async function withTimeLimit<T>(
  milliseconds: number,
  signal: AbortSignal,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T | 'timeout'> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  // AbortSignal.any would keep one entry per call on a signal that lives as long as the run.
  setMaxListeners(0, signal);
  signal.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => controller.abort(), Math.min(milliseconds, MAX_TIMER_MS));
  try {
    return await task(controller.signal);
  } catch (error) {
    signal.throwIfAborted();
    if (controller.signal.aborted) return 'timeout';
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
