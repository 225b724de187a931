import { lstat, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SandboxFileError } from '../../../core/ports/sandbox.ts';
import { makeFolders } from './make-folders.ts';

/** Removes a file or a link, no folder. Throws `SandboxFileError` or the system's error. */
export async function deleteFile(real: string, shownPath: string): Promise<void> {
  await assertNoFolder(real, shownPath);
  await unlink(real);
}

/** Throws `SandboxFileError` for a folder, the system's error where nothing is there. */
export async function assertNoFolder(real: string, shownPath: string): Promise<void> {
  if ((await lstat(real)).isDirectory()) {
    throw new SandboxFileError(`${shownPath}: is a folder`, 'is_directory');
  }
}

/**
 * Renames to a path where nothing is yet, making its folders. Throws `SandboxFileError` `exists` or
 * the system's error.
 */
export async function renameToFree(real: string, to: string, shownTo: string): Promise<void> {
  const isTaken = await lstat(to).then(
    () => true,
    () => false,
  );
  if (isTaken) throw new SandboxFileError(`${shownTo}: is there already`, 'exists');
  await makeFolders(dirname(to));
  await rename(real, to);
}
