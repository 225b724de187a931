import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

/** What Docker adds, and says nothing about the image. */
const NOT_THE_IMAGES = new Set(['HOSTNAME', 'PWD', 'OLDPWD', 'SHLVL', '_']);
export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * The environment the image gives its programs, taken from the entry script's process: the daemon's
 * own was emptied, so that an image's LD_PRELOAD or NODE_OPTIONS does not reach it.
 */
export function imageEnvironment(pid: number): Record<string, string> {
  const entries = textOf(`/proc/${pid}/environ`)
    .split('\0')
    .filter((entry) => entry.indexOf('=') > 0)
    .map((entry): [string, string] => {
      const at = entry.indexOf('=');
      return [entry.slice(0, at), entry.slice(at + 1)];
    })
    .filter(([name]) => !NOT_THE_IMAGES.has(name));
  return Object.fromEntries(entries);
}

/** Name of the user the image runs as, or its number where the image does not name it. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A uid without an entry in the user database, or no database.
    return String(process.getuid?.() ?? 0);
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
