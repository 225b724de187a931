import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from './append-log.ts';
import { storageError } from './storage-error.ts';

/** Replaces a file whole or not at all, durably: written beside, synced, renamed. */
export async function writeFileAtomically(path: string, text: string, mode = 0o644): Promise<void> {
  const beside = `${path}.tmp`;
  try {
    const handle = await open(beside, 'w', mode);
    try {
      await handle.writeFile(text);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined);
    throw storageError(path, error);
  }
  await syncFolder(dirname(path));
}
