import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { SandboxLostError } from '../../../core/ports/sandbox.ts';

export interface ShellProcess {
  pid: number;
  /** The exit code, 128 + n after signal n. */
  exited: Promise<number>;
}

/**
 * Starts a shell as leader of its own session and process group, its input empty, its output and
 * errors in one pipe. Throws `SandboxLostError` where the host can't start it (no memory, no
 * handles, folder gone): that is no output of the command.
 */
export async function spawnShell(of: {
  /** The shell, or what starts it. */
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  outputFd: number;
}): Promise<ShellProcess> {
  try {
    const child = spawn(of.file, of.args, {
      cwd: of.cwd,
      env: of.env,
      detached: true,
      stdio: ['ignore', of.outputFd, of.outputFd],
    });
    if (child.pid === undefined) {
      throw await new Promise<Error>((resolve) => child.once('error', resolve));
    }
    const exited = new Promise<number>((resolve) => {
      child.once('exit', (code, signal) => resolve(code ?? signalCode(signal)));
    });
    return { pid: child.pid, exited };
  } catch (error) {
    throw new SandboxLostError(`the host could not start a shell: ${String(error)}`, {
      cause: error,
    });
  }
}

function signalCode(signal: NodeJS.Signals | null): number {
  return 128 + (signal === null ? 0 : constants.signals[signal]);
}
