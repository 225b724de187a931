import { closeSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { openUntrusted } from './open-untrusted.ts';

const LONGEST_PID = 12;

/**
 * The session that a shell in a terminal noted in a file when it began; undefined where it has not,
 * or a command put something else there.
 */
export function notedSession(file: string): number | undefined {
  const fd = openUntrusted(file);
  if (fd === undefined) return undefined;
  try {
    const bytes = Buffer.alloc(LONGEST_PID);
    const text = bytes.toString('latin1', 0, readSync(fd, bytes, 0, LONGEST_PID, 0)).trim();
    const session = /^\d+$/.test(text) ? Number(text) : 0;
    return session > 1 && session !== process.pid ? session : undefined;
  } catch {
    // A folder, or a pipe.
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/** The processes of a session, whatever their groups: job control gives each job its own. */
export function processesOf(session: number): number[] {
  return pids().filter((pid) => sessionOf(pid) === session);
}

function pids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function sessionOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in brackets, and may itself hold spaces and brackets.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
  } catch {
    return undefined;
  }
}
