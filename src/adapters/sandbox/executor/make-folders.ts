import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it that are missing; resolves to the ones made, outermost first.
 * Not `mkdir` with `recursive`: that never ends in file systems that refuse folders, such as /proc,
 * and calls a full or read-only disk ENOENT.
 */
export async function makeFolders(path: string): Promise<string[]> {
  const code = await tryMkdir(path);
  if (code === 'EEXIST') return [];
  if (code === undefined) return [path];
  const above = await makeFolders(dirname(path));
  try {
    // What is still missing now, as in /proc, is an error like any other.
    await mkdir(path);
    return [...above, path];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return above;
    throw error;
  }
}

/** The code of the error that something above is missing or this is there; undefined if made. */
async function tryMkdir(path: string): Promise<'ENOENT' | 'EEXIST' | undefined> {
  try {
    await mkdir(path);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || (code === 'ENOENT' && dirname(path) !== path)) return code;
    throw error;
  }
}
