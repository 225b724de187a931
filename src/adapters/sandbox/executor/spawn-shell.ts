import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { SandboxLostError } from '../../../core/ports/sandbox.ts';

export interface ShellEnd {
  /** 128 + n after signal n. */
  exitCode: number;
  /** False where the shell was killed: what it wrote of its state does not count. */
  byItself: boolean;
}

export interface ShellProcess {
  pid: number;
  exited: Promise<ShellEnd>;
}

/**
 * Starts a shell as leader of its own session and process group, its input empty, its output and
 * errors in one pipe. Throws `SandboxLostError` where the host can't start it (no memory, no
 * handles, folder gone): that is no output of the command.
 */
export async function spawnShell(of: {
  shell: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  outputFd: number;
}): Promise<ShellProcess> {
  try {
    const child = spawn(of.shell, of.args, {
      cwd: of.cwd,
      env: of.env,
      detached: true,
      stdio: ['ignore', of.outputFd, of.outputFd],
    });
    if (child.pid === undefined) {
      throw await new Promise<Error>((resolve) => child.once('error', resolve));
    }
    const exited = new Promise<ShellEnd>((resolve) => {
      child.once('exit', (code, signal) =>
        resolve({ exitCode: exitCodeOf(code, signal), byItself: true }),
      );
    });
    return { pid: child.pid, exited };
  } catch (error) {
    throw new SandboxLostError(`the host could not start a shell: ${String(error)}`, {
      cause: error,
    });
  }
}

/** A shell's way to tell an end: the code, or 128 + n after signal n. */
export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
