import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const ENTRY = '/.talaria/entry.sh';
/** Processes that were killed need a moment to go, and what they held with them. */
const ROUNDS = 100;
const PAUSE_MS = 10;

/**
 * Kills all that still runs in this container, whatever session it moved to, and waits until it is
 * gone: the container's own end comes a moment after the daemon's, and the agent hears of that first.
 */
export async function endAllProcesses(): Promise<void> {
  // Anywhere else it would be all processes of the machine.
  if (!textOf('/proc/1/cmdline').split('\0').includes(ENTRY)) return;
  for (let round = 0; round < ROUNDS && others().length > 0; round += 1) {
    try {
      process.kill(-1, 'SIGKILL');
    } catch {
      // Nothing is left that may be killed.
    }
    await delay(PAUSE_MS);
  }
}

function others(): string[] {
  const own = new Set(['1', String(process.pid)]);
  return readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && !own.has(name) && isAlive(name),
  );
}

function isAlive(pid: string): boolean {
  const stat = textOf(`/proc/${pid}/stat`);
  const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
  return state !== '' && state !== 'Z' && state !== 'X';
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
