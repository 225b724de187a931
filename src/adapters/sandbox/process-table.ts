import { readdir, readFile } from 'node:fs/promises';

const MARK = 'TALARIA_SANDBOX=';

export interface MarkedProcess {
  pid: number;
  /** Value of TALARIA_SANDBOX it was started with. */
  mark: string;
}

/**
 * Processes whose environment carries a sandbox's mark, wherever they moved by `setsid`. Empty
 * where there is no /proc (macOS). One that emptied its environment itself is not seen.
 */
export async function markedProcesses(): Promise<MarkedProcess[]> {
  const found: MarkedProcess[] = [];
  for (const pid of (await namesIn('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)) {
    const mark = markIn(await textOf(`/proc/${pid}/environ`));
    if (mark !== undefined && pid !== process.pid) found.push({ pid, mark });
  }
  return found;
}

/** Start of a process in clock ticks since boot; undefined for no such process or no /proc. */
export async function startTime(pid: number): Promise<string | undefined> {
  const stat = await textOf(`/proc/${pid}/stat`);
  // The second field is the program's name in brackets, and may itself hold spaces and brackets.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function markIn(environ: string): string | undefined {
  const variable = environ.split('\0').find((entry) => entry.startsWith(MARK));
  return variable?.slice(MARK.length);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function textOf(file: string): Promise<string> {
  // Gone meanwhile, or another user's.
  return readFile(file, 'utf8').catch(() => '');
}
