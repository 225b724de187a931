import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { outputOf } from './timing.ts';

export interface SweRex {
  /** Of a virtual environment with `swe-rex`. */
  python: string;
  script: string;
  /** With `swerex-remote` on its PATH. */
  image: string;
}

const TIMEOUT_MS = 600_000;

/** What the script measured, by name; nothing where it failed or hung, which is said. */
export async function askSweRex(of: SweRex, args: string[]): Promise<Record<string, number[]>> {
  try {
    return JSON.parse(await outputOf(of.python, [of.script, of.image, ...args], TIMEOUT_MS));
  } catch (error) {
    process.stderr.write(`SWE-ReX ${args.join(' ')}: ${String(error).slice(0, 2_000)}\n`);
    return {};
  }
}

/** Opens some sandboxes; resolves, once they have run a command, to what closes them. */
export async function holdSweRex(of: SweRex, count: number): Promise<() => Promise<void>> {
  const child = spawn(of.python, [of.script, of.image, 'hold', String(count)], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  return async () => {
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
  };
}
