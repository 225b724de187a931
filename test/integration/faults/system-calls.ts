import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

// biome-ignore lint/style/noProcessEnv: whether this is CI is a setting of the test run, not of ours
const IS_CI = process.env['CI'] === 'true';

/** Whether tests that need `strace` are to be skipped, which is said on standard error; never in CI. */
export function skipsWithoutStrace(): boolean {
  if (IS_CI || spawnSync('/bin/sh', ['-c', 'strace -o /dev/null true']).status === 0) return false;
  process.stderr.write('\nSKIPPED: the order of syncs, strace cannot trace here.\n\n');
  return true;
}

/** The command that writes its program's calls to `file`, those that change files or make them durable. */
export function traced(file: string): string[] {
  const calls = 'write,pwrite64,pwritev,fsync,fdatasync,rename,renameat,renameat2';
  return ['strace', '-f', '-y', '-s', '16', '-e', `trace=${calls}`, '-o', file];
}

/** A system call on a file: what it was, on which path, and when it began and ended. */
export interface SystemCall {
  name: 'write' | 'sync' | 'rename';
  path: string;
  /** The new path of a rename. */
  to: string;
  /** Numbers of lines of the trace. */
  began: number;
  ended: number;
}

const NAMES: Readonly<Record<string, SystemCall['name']>> = {
  write: 'write',
  pwrite64: 'write',
  pwritev: 'write',
  fsync: 'sync',
  fdatasync: 'sync',
  rename: 'rename',
  renameat: 'rename',
  renameat2: 'rename',
};

/** The calls of a trace that did what they should, in the order in which they began. */
export function readTrace(file: string): SystemCall[] {
  const calls: SystemCall[] = [];
  /** By thread, those that another thread's line interrupts. */
  const unfinished = new Map<string, SystemCall>();
  for (const [number, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const resumed = rest.startsWith('<... ') ? unfinished.get(thread) : undefined;
    if (resumed !== undefined) resumed.ended = number;
    const call = resumed === undefined ? parseCall(rest, number) : undefined;
    if (call === undefined) continue;
    calls.push(call);
    if (rest.endsWith('<unfinished ...>')) unfinished.set(thread, call);
  }
  return calls;
}

function parseCall(text: string, number: number): SystemCall | undefined {
  const [, called = '', args = ''] = /^(\w+)\((.*)$/.exec(text) ?? [];
  const name = NAMES[called];
  if (name === undefined || / = -1 /.test(text)) return undefined;
  const [first = '', second = ''] =
    name === 'rename'
      ? [...args.matchAll(/"([^"]*)"/g)].map(([, path]) => path)
      : [/^\d+<([^>]*)>/.exec(args)?.[1]];
  return { name, path: first, to: second, began: number, ended: number };
}
