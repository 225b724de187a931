import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Path of a program in a PATH value; undefined where it is in none of its folders. */
export function findProgram(name: string, path: string): string | undefined {
  const folders = path.split(':').filter((folder) => folder.startsWith('/'));
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
