import { constants, openSync } from 'node:fs';

/**
 * Opens a file to read in a folder that commands can reach: neither a pipe nor a link put there is
 * waited for or followed. Undefined where there is none. The caller closes it.
 */
export function openUntrusted(file: string): number | undefined {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
}
