import { readlink } from 'node:fs/promises';
import { startTime } from './process-table.ts';

const OWNED_NAME = /^(\d+)\.(\d+)\.(\d+)-/;

export type OwnerState = 'this' | 'alive' | 'dead' | 'unknown';

export interface SandboxOwner {
  /** Beginning of the names of this process's folders and of its sandboxes' marks. */
  prefix: string;
  /** Whose a name is; `unknown` for other names and for those of another pid namespace. */
  ownerOf(name: string): Promise<OwnerState>;
}

/**
 * Names tell who made a sandbox: pid namespace, pid and start time, so that a pid that was given
 * again is no longer its owner, and a container's pid is not taken for one here.
 */
export async function createSandboxOwner(): Promise<SandboxOwner> {
  const namespace = await pidNamespace();
  const started = (await startTime(process.pid)) ?? '0';
  const prefix = `${namespace}.${process.pid}.${started}-`;

  return {
    prefix,
    async ownerOf(name) {
      if (name.startsWith(prefix)) return 'this';
      const [, inNamespace, pid, start] = OWNED_NAME.exec(name) ?? [];
      if (inNamespace !== namespace || pid === undefined) return 'unknown';
      if (!isRunning(Number(pid))) return 'dead';
      return ((await startTime(Number(pid))) ?? '0') === start ? 'alive' : 'dead';
    },
  };
}

async function pidNamespace(): Promise<string> {
  const link = await readlink('/proc/self/ns/pid').catch(() => '');
  return /\d+/.exec(link)?.[0] ?? '0';
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
