import type { ProcessOutput, ProcessStatus } from '../../../core/ports/sandbox.ts';
import { createBackgroundReader } from './background-reader.ts';
import { plainLineEnds } from './line-ends.ts';
import type { ProcessGroups } from './process-groups.ts';
import { createProcessInput, type ProcessInput } from './process-input.ts';
import { createRollingOutput } from './rolling-output.ts';
import type { BackgroundChild } from './spawn-background.ts';

const WINDOW = 256 * 1024;
/** Between SIGTERM and SIGKILL, and after it until the answer is given all the same. */
const KILL_GRACE_MS = 1_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface BackgroundProcess {
  status(): ProcessStatus;
  output(maxBytes: number): ProcessOutput;
  input: ProcessInput;
  /** Resolves once it has ended, the time is up or the signal aborts. */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<void>;
  kill(): Promise<void>;
  /** Lets go of its pipes. */
  close(): void;
}

/** Follows a process that was just started. Owns the descriptors. */
export function followProcess(of: {
  id: string;
  command: string;
  child: BackgroundChild;
  outputFd: number;
  inputFd: number;
  groups: ProcessGroups;
  /** Where its shell notes the session of its terminal; undefined without one. */
  sessionFile: string | undefined;
}): BackgroundProcess {
  const { id, command, groups } = of;
  const { pid } = of.child;
  const startedAt = performance.now();
  let end: { exitCode: number; at: number } | undefined;
  const output = createRollingOutput(WINDOW);
  const reader = createBackgroundReader(
    of.outputFd,
    of.sessionFile === undefined ? output.add : plainLineEnds(output.add),
  );
  const input = createProcessInput(id, of.inputFd);
  groups.add(pid, of.sessionFile);
  const ended = of.child.exited.then((exitCode) => {
    groups.leaderEnded(pid);
    // What it wrote last may still be in the pipe.
    reader.drain();
    input.close();
    end = { exitCode, at: performance.now() };
  });

  function wait(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, Math.min(Math.max(timeoutMs, 0), MAX_TIMER_MS));
      function done() {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      }
      signal?.addEventListener('abort', done, { once: true });
      if (signal?.aborted) done();
      void ended.then(done);
    });
  }

  return {
    input,
    wait,
    status: () => ({
      id,
      pid,
      command,
      exitCode: end?.exitCode,
      runMs: (end?.at ?? performance.now()) - startedAt,
    }),
    output: (maxBytes) => output.last(maxBytes),
    async kill() {
      if (end !== undefined) return;
      groups.terminate(pid);
      await wait(KILL_GRACE_MS);
      groups.kill(pid);
      await wait(KILL_GRACE_MS);
    },
    close() {
      reader.close();
      input.close();
    },
  };
}
