import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { markedProcesses } from './process-table.ts';
import { removeTree } from './remove-tree.ts';
import type { SandboxOwner } from './sandbox-owner.ts';

/** Rounds of looking for processes: one that forks meanwhile leaves a child to the next. */
const MAX_ROUNDS = 5;

export interface Swept {
  folders: number;
  processes: number;
  /** Paths of folders that could not be removed. */
  stuck: string[];
}

/** Removes folders under the roots and ends processes that belong to runners which are dead. */
export async function sweepDeadOwners(
  roots: readonly string[],
  owner: SandboxOwner,
): Promise<Swept> {
  const isDead = async (name: string) => (await owner.ownerOf(name)) === 'dead';
  const processes = await killMarked(isDead);
  let folders = 0;
  const stuck: string[] = [];
  for (const root of new Set(roots)) {
    for (const name of await namesIn(root)) {
      if (!(await isDead(name))) continue;
      if (await removeTree(join(root, name))) folders += 1;
      else stuck.push(join(root, name));
    }
  }
  return { folders, processes, stuck };
}

/** None where the folder is another user's: in a shared /tmp somebody may have made it. */
async function namesIn(root: string): Promise<string[]> {
  const stat = await lstat(root).catch(() => undefined);
  if (stat?.isDirectory() !== true || stat.uid !== process.getuid?.()) return [];
  return readdir(root).catch(() => []);
}

/** Ends all processes with a mark that `isTarget` names; resolves to how many there were. */
export async function killMarked(isTarget: (mark: string) => Promise<boolean>): Promise<number> {
  const killed = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = killed.size;
    for (const { pid, mark } of await markedProcesses()) {
      if (!killed.has(pid) && (await isTarget(mark)) && kill(pid)) killed.add(pid);
    }
    if (killed.size === before) break;
  }
  return killed.size;
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
