import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { SandboxLostError } from '../../../core/ports/sandbox.ts';

export interface BackgroundChild {
  pid: number;
  /** The exit code, 128 + n after signal n. */
  exited: Promise<number>;
}

/**
 * Starts a program as leader of its own session and process group. Throws `SandboxLostError` where
 * the host can't start it.
 */
export async function spawnBackground(of: {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  stdio: { input: number | 'ignore'; output: number; errors: number | 'ignore' };
}): Promise<BackgroundChild> {
  const { input, output, errors } = of.stdio;
  try {
    const child = spawn(of.file, of.args, {
      cwd: of.cwd,
      env: of.env,
      detached: true,
      stdio: [input, output, errors],
    });
    if (child.pid === undefined) {
      throw await new Promise<Error>((resolve) => child.once('error', resolve));
    }
    const exited = new Promise<number>((resolve) => {
      child.once('exit', (code, signal) =>
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
      );
    });
    return { pid: child.pid, exited };
  } catch (error) {
    throw new SandboxLostError(`the host could not start a process: ${String(error)}`, {
      cause: error,
    });
  }
}
