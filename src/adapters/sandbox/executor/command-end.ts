import type { CommandRequest, CommandResult } from '../../../core/ports/sandbox.ts';
import type { ProcessGroups } from './process-groups.ts';
import type { ShellProcess } from './spawn-shell.ts';

/** How long a killed shell may take to be gone before the answer is given all the same. */
const KILL_GRACE_MS = 1_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits for a command's shell to end by itself, by its time limit or by its signal; the latter two
 * kill its whole process group.
 */
export async function commandEnd(
  shell: ShellProcess,
  request: CommandRequest,
  groups: ProcessGroups,
  sessionFile?: string,
): Promise<Pick<CommandResult, 'exitCode' | 'stopped'>> {
  groups.add(shell.pid, sessionFile);
  const exited = shell.exited.then((exitCode) => {
    groups.leaderEnded(shell.pid);
    return exitCode;
  });
  const limit = whenStopped(request);
  const first = await Promise.race([exited, limit.stopped]);
  limit.cancel();
  if (typeof first === 'number') return { exitCode: first, stopped: 'no' };
  groups.kill(shell.pid);
  const grace = delay(KILL_GRACE_MS);
  await Promise.race([exited, grace.over]);
  grace.cancel();
  return { exitCode: 128 + 9, stopped: first };
}

function whenStopped(request: CommandRequest) {
  const { promise, resolve } = withResolvers<'timeout' | 'aborted'>();
  const timer = setTimeout(
    () => resolve('timeout'),
    Math.min(Math.max(request.timeoutMs, 0), MAX_TIMER_MS),
  );
  const abort = () => resolve('aborted');
  request.signal?.addEventListener('abort', abort, { once: true });
  if (request.signal?.aborted) abort();
  return {
    stopped: promise,
    cancel() {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', abort);
    },
  };
}

function delay(milliseconds: number) {
  const { promise, resolve } = withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), milliseconds);
  return { over: promise, cancel: () => clearTimeout(timer) };
}

function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((give) => {
    resolve = give;
  });
  return { promise, resolve };
}
