import { constants, type Stats } from 'node:fs';
import { access, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SandboxFileError } from '../../../core/ports/sandbox.ts';
import { makeFolders } from './make-folders.ts';
import { notAFile } from './open-regular-file.ts';

let count = 0;

/**
 * Writes beside the file and renames, so that no reader ever sees half of it. Makes missing
 * folders, keeps an existing file's mode. Throws `SandboxFileError` or the system's error.
 */
export async function writeFileWhole(
  real: string,
  bytes: Uint8Array,
  shownPath: string,
): Promise<void> {
  const mode = await modeToKeep(real, shownPath);
  await makeFolders(dirname(real));
  count += 1;
  const beside = join(dirname(real), `.${basename(real).slice(0, 100)}.talaria-${count}`);
  const handle = await open(beside, 'wx', mode ?? 0o666);
  try {
    try {
      await handle.writeFile(bytes);
      // The umask was applied at open.
      if (mode !== undefined) await handle.chmod(mode);
    } finally {
      await handle.close();
    }
    await rename(beside, real);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

async function modeToKeep(real: string, shownPath: string): Promise<number | undefined> {
  const stat = await statIfThere(real);
  // A dangling symlink is replaced, not followed.
  if (stat === undefined || stat.isSymbolicLink()) return undefined;
  if (stat.isDirectory()) throw new SandboxFileError(`${shownPath}: is a folder`, 'is_directory');
  if (!stat.isFile()) throw notAFile(shownPath);
  // A rename would get past a file's own write protection.
  await access(real, constants.W_OK);
  return stat.mode & 0o7777;
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
