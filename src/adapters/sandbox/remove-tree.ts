import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes a folder whatever is in it: processes that were just killed may still add a file, and
 * folders may be closed even to their owner (Go's module cache is). Resolves to whether it is gone.
 */
export async function removeTree(folder: string): Promise<boolean> {
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
