import { SandboxLostError } from '../../../core/ports/sandbox.ts';

/**
 * Waits for what can't be ended itself, no longer than the limits allow. Throws `SandboxLostError`
 * where they ended the wait; what comes later is dropped.
 */
export async function interruptible<T>(
  work: Promise<T>,
  { signal, timeoutMs }: { signal: AbortSignal | undefined; timeoutMs: number },
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  const end = new Promise<never>((_, reject) => {
    stop = () => reject(new SandboxLostError('the wait for Docker was ended with the run'));
    timer = setTimeout(
      () => reject(new SandboxLostError(`no answer from Docker within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
    if (stop !== undefined) signal?.removeEventListener('abort', stop);
    work.catch(() => undefined);
  }
}
