import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Path of bash, else of sh, in a PATH value; undefined where there is neither. */
export function findShell(path: string): string | undefined {
  const folders = path.split(':').filter((folder) => folder.startsWith('/'));
  return ['bash', 'sh']
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
