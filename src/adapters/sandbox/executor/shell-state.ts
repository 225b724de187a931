import { closeSync, fstatSync, readSync, renameSync, rmSync } from 'node:fs';
import { openUntrusted } from './open-untrusted.ts';

/** Longest working directory followed, in bytes. */
const MAX_DIRECTORY = 8192;

/**
 * Takes over what a command's shell wrote at its end: the file becomes the state the next command
 * starts from. Returns the working directory, or undefined where nothing whole was written (the
 * shell was killed, or replaced itself by `exec`), and the state stays as it was.
 */
export function acceptShellState(nextFile: string, stateFile: string): string | undefined {
  const directory = readDirectory(nextFile);
  if (directory === undefined) {
    rmSync(nextFile, { force: true, recursive: true });
    return undefined;
  }
  renameSync(nextFile, stateFile);
  return directory;
}

function readDirectory(file: string): string | undefined {
  const fd = openUntrusted(file);
  if (fd === undefined) return undefined;
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size < 3) return undefined;
    const last = Buffer.alloc(1);
    readSync(fd, last, 0, 1, stat.size - 1);
    if (last[0] !== 0) return undefined;
    const start = Buffer.alloc(Math.min(stat.size, MAX_DIRECTORY));
    const length = readSync(fd, start, 0, start.length, 0);
    const end = start.subarray(0, length).indexOf(0);
    // The directory, a newline, NUL; the exports, NUL.
    if (end < 2 || end === stat.size - 1 || start[0] !== 0x2f) return undefined;
    return start.toString('utf8', 0, end - 1);
  } finally {
    closeSync(fd);
  }
}
