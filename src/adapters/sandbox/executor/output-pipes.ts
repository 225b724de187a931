import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SandboxLostError } from '../../../core/ports/sandbox.ts';

const BATCH = 128;

/** Both ends of a fresh pipe. Whoever takes it closes both. */
export interface OutputPipe {
  /** Non-blocking. */
  readFd: number;
  /** Blocking, for a child's standard output and error. */
  writeFd: number;
}

/** A fresh pipe that another process opens by its name. */
export interface NamedPipe extends OutputPipe {
  path: string;
  /** Takes the name away and closes the writing end here: to be called once the other has opened it. */
  release(): void;
}

export interface OutputPipes {
  /** Begins to make the first pipes, so that the first command need not wait for them. Never throws. */
  prepare(): void;
  /** Throws `SandboxLostError` where the host gives no more pipes. */
  take(): Promise<OutputPipe>;
  /** The same with its name still there. */
  takeNamed(): Promise<NamedPipe>;
  close(): Promise<void>;
}

/**
 * Real pipes for the output of commands. Node itself hands socket pairs to children, and on those
 * `echo x > /dev/stderr` and `tee /dev/stdout` fail (ENXIO); it has no call for pipe(2). So named
 * pipes are made by one `mkfifo` for 128, and lose their name as soon as they are open.
 */
export function createOutputPipes(deps: {
  /** A folder of its own, made when first needed, removed by `close`. */
  folder: string;
  /** Path of the `mkfifo` program, or its name and PATH. */
  mkfifo: { file: string; path: string };
}): OutputPipes {
  const ready: string[] = [];
  let made = 0;
  let refilling: Promise<void> | undefined;

  async function refill(): Promise<void> {
    await mkdir(deps.folder, { recursive: true, mode: 0o700 });
    const names = Array.from({ length: BATCH }, () => join(deps.folder, String(made++)));
    await promisify(execFile)(deps.mkfifo.file, ['-m', '600', ...names], {
      env: { PATH: deps.mkfifo.path },
    });
    ready.push(...names);
  }

  function refillOnce(): Promise<void> {
    refilling ??= refill().finally(() => {
      refilling = undefined;
    });
    return refilling;
  }

  async function takeName(): Promise<string> {
    for (;;) {
      const name = ready.pop();
      if (name !== undefined) return name;
      await refillOnce();
    }
  }

  async function takeNamed(): Promise<NamedPipe> {
    try {
      return openBothEnds(await takeName());
    } catch (error) {
      throw new SandboxLostError(`no pipe for a command's output: ${String(error)}`, {
        cause: error,
      });
    }
  }

  return {
    prepare() {
      // Whoever takes a pipe meets the fault again.
      if (ready.length === 0) void refillOnce().catch(() => undefined);
    },
    takeNamed,
    async take() {
      const pipe = await takeNamed();
      unlinkSync(pipe.path);
      return pipe;
    },
    async close() {
      ready.length = 0;
      await rm(deps.folder, { recursive: true, force: true });
    },
  };
}

function openBothEnds(path: string): NamedPipe {
  // Reader first: a writer without one would block the whole process.
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const writeFd = openSync(path, constants.O_WRONLY);
    return { readFd, writeFd, path, release: () => releaseName(path, writeFd) };
  } catch (error) {
    closeSync(readFd);
    unlinkSync(path);
    throw error;
  }
}

function releaseName(path: string, writeFd: number): void {
  closeSync(writeFd);
  try {
    unlinkSync(path);
  } catch {
    // The folder was removed meanwhile.
  }
}
