import { link, open, readFile, rename, rm } from 'node:fs/promises';
import { z } from 'zod';

/** Who holds a run. `started` tells a process from a later one with the same number. */
const holderSchema = z.object({ pid: z.int(), started: z.string(), host: z.string() });
export type LockHolder = z.infer<typeof holderSchema>;

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
 * Takes the lock file at `path` for this process and resolves to its release. A lock left by a
 * process that has ended is taken over. Throws `RunLockedError` when a living process has it, or
 * one of another machine, which can't be asked.
 */
export async function lockRun(path: string, deps: LockDeps): Promise<() => Promise<void>> {
  const mine = `${path}.${deps.self.pid}`;
  const handle = await open(mine, 'w');
  await handle.writeFile(JSON.stringify(deps.self));
  await handle.close();
  try {
    for (let tries = 0; tries < 100; tries += 1) {
      if (await linked(mine, path)) return () => rm(path, { force: true });
      await removeIfDead(path, mine, deps);
    }
  } finally {
    await rm(mine, { force: true });
  }
  throw new RunLockedError(`the lock ${path} changes hands all the time; try again`);
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

async function removeIfDead(path: string, mine: string, deps: LockDeps): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const holder = parseHolder(text);
  if (holder !== undefined) await refuseIfAlive(holder, path, deps);
  const aside = `${mine}.stale`;
  const moved = await rename(path, aside).then(
    () => true,
    () => false,
  );
  if (!moved) return;
  // Another process may have taken over the dead lock just before: then this one is its, give it back.
  const taken = await readFile(aside, 'utf8').catch(() => undefined);
  if (taken !== undefined && taken !== text) await linked(aside, path);
  await rm(aside, { force: true });
}

async function refuseIfAlive(holder: LockHolder, path: string, deps: LockDeps): Promise<void> {
  if (holder.host !== deps.self.host) {
    throw new RunLockedError(
      `process ${holder.pid} on ${holder.host} has this run; if it has ended, remove ${path}`,
    );
  }
  if ((await deps.processStarted(holder.pid)) === holder.started) {
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
