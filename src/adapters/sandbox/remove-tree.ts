import { readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes a folder whatever is in it: processes that were just killed may still add a file, and
 * folders may be closed even to their owner (Go's module cache is). Resolves to whether it is gone.
 */
export async function removeTree(folder: string): Promise<boolean> {
  if (removeSmallTree(folder)) return true;
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 4, retryDelay: 20 });
  try {
    await remove();
  } catch {
    await openFolders(folder);
    await remove().catch(() => undefined);
  }
  return lstat(folder).then(
    () => false,
    () => true,
  );
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => undefined);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) await openFolders(join(folder, entry.name));
  }
}

/** Entries up to which a tree is removed on the spot. */
const SMALL_TREE = 24;

/**
 * Removes a tree of few entries without the thread pool, which costs more than the calls
 * themselves: most prompts leave hardly a file. False where it is larger, or anything is in the way.
 */
function removeSmallTree(folder: string): boolean {
  let left = SMALL_TREE;

  function remove(path: string): void {
    const entries = readdirSync(path, { withFileTypes: true });
    left -= entries.length;
    if (left < 0) throw new RangeError('not a small tree');
    for (const entry of entries) {
      const inside = join(path, entry.name);
      if (entry.isDirectory()) remove(inside);
      else unlinkSync(inside);
    }
    rmdirSync(path);
  }

  try {
    remove(folder);
    return true;
  } catch {
    return false;
  }
}
