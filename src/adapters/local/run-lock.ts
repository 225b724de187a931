import { link, open, readFile, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { storing } from './storage-error.ts';

/** Who holds a run. `started` tells a process from a later one with the same number. */
const holderSchema = z.object({ pid: z.int(), started: z.string(), host: z.string() });
export type LockHolder = z.infer<typeof holderSchema>;

/** Pause before another look at a guard that is held, for some system calls, in milliseconds. */
const GUARD_WAIT_MS = 5;

/** The run is held by somebody else. */
export class RunLockedError extends Error {
  override readonly name = 'RunLockedError';
}

export interface LockDeps {
  self: LockHolder;
  /** Start mark of a living process of this machine; undefined where there is none. */
  processStarted(pid: number): Promise<string | undefined>;
}

/**
 * When a process started, as the kernel tells it: from `/proc` on Linux; elsewhere only whether it
 * lives. Undefined for a process that has ended.
 */
export async function processStarted(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // Field 22; the second field, the name, may hold blanks and parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    if (process.platform === 'linux') return undefined;
  }
  try {
    process.kill(pid, 0);
    return 'alive';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'alive' : undefined;
  }
}

/**
 * Takes the lock file at `path` for this process and resolves to its release, which never throws. A lock left by a
 * process that has ended is taken over. Throws `RunLockedError` when a living process has it, or
 * one of another machine, which can't be asked.
 */
export async function lockRun(path: string, deps: LockDeps): Promise<() => Promise<void>> {
  const mine = `${path}.${deps.self.pid}`;
  try {
    await storing(path, () => writeHolder(mine, deps.self));
    for (let tries = 0; tries < 100; tries += 1) {
      if (await storing(path, () => linked(mine, path))) return () => release(path);
      await removeIfDead(path, mine, deps);
    }
  } finally {
    await rm(mine, { force: true }).catch(() => undefined);
  }
  throw new RunLockedError(`the lock ${path} changes hands all the time; try again`);
}

/** A lock that can't be removed is taken over once this process has ended. */
async function release(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined);
}

async function writeHolder(path: string, holder: LockHolder): Promise<void> {
  const handle = await open(path, 'w');
  try {
    await handle.writeFile(JSON.stringify(holder));
  } finally {
    await handle.close();
  }
}

/** A hard link is made whole or not at all: no reader ever sees a lock without its holder. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes the lock of a process that has ended. Several may find it at once, and by the time that
 * one of them removes it, the lock may be another's new one: so only who has the guard removes.
 */
async function removeIfDead(path: string, mine: string, deps: LockDeps): Promise<void> {
  const text = await readIfThere(path);
  if (text === undefined) return;
  await refuseIfAlive(text, path, deps);
  const guard = takeoverGuard(path);
  if (!(await linked(mine, guard))) {
    await removeDeadGuard(guard, deps);
    return;
  }
  try {
    if ((await readIfThere(path)) === text) await rm(path, { force: true });
  } finally {
    await rm(guard, { force: true });
  }
}

/** The file that a process holds while it removes a dead process's lock. */
export function takeoverGuard(path: string): string {
  return `${path}.takeover`;
}

async function removeDeadGuard(guard: string, deps: LockDeps): Promise<void> {
  const holder = parseHolder((await readIfThere(guard)) ?? '');
  if (holder === undefined) return;
  if (await isAlive(holder, deps)) await delay(GUARD_WAIT_MS);
  else await rm(guard, { force: true });
}

async function readIfThere(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch(() => undefined);
}

async function isAlive(holder: LockHolder, deps: LockDeps): Promise<boolean> {
  return (await deps.processStarted(holder.pid)) === holder.started;
}

async function refuseIfAlive(text: string, path: string, deps: LockDeps): Promise<void> {
  const holder = parseHolder(text);
  if (holder === undefined) return;
  if (holder.host !== deps.self.host) {
    throw new RunLockedError(
      `process ${holder.pid} on ${holder.host} has this run; if it has ended, remove ${path}`,
    );
  }
  if (await isAlive(holder, deps)) {
    throw new RunLockedError(`process ${holder.pid} is working on this run; wait for it or end it`);
  }
}

function parseHolder(text: string): LockHolder | undefined {
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
