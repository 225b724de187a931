import { closeSync } from 'node:fs';
import type { OutputPipes } from './output-pipes.ts';
import { createPipeReader, type PipeReader } from './pipe-reader.ts';
import type { ProcessGroups } from './process-groups.ts';
import { spawnBackground } from './spawn-background.ts';

/** Bytes of paths taken from ripgrep. */
const MAX_PATHS = 32 * 1024 * 1024;
const MAX_DEPTH = '101';
/** Exit codes of a search that went well; 2 may have stopped half way. */
const FOUND = 0;
const FOUND_NOTHING = 1;

const OPTIONS = [
  '--no-config',
  // As the built-in search: all but hidden files and links, whatever an ignore file says.
  '--no-ignore',
  '--no-messages',
  '--no-mmap',
  '--color=never',
  '--null',
  // Many prompts search at once.
  '--threads=2',
  `--max-depth=${MAX_DEPTH}`,
];

export interface RipgrepDeps {
  /** Path of the program. */
  program: string;
  /** Value of TALARIA_SANDBOX, by which what is left over is found. */
  mark: string;
  pipes: OutputPipes;
  groups: ProcessGroups;
}

export interface FoundPaths {
  /** Relative to the folder, in order. */
  paths: string[];
  /** Stopped before it had seen everything. */
  incomplete: 'no' | 'limit' | 'timeout';
}

/**
 * Paths below a folder of files that have a matching line, or of all files where `pattern` is
 * undefined. Undefined where ripgrep refused the pattern or had trouble of any kind.
 */
export async function ripgrepFiles(
  of: { folder: string; pattern: string | undefined; timeoutMs: number },
  deps: RipgrepDeps,
): Promise<FoundPaths | undefined> {
  const what =
    of.pattern === undefined
      ? ['--files']
      : ['--files-with-matches', '--text', '--encoding=none', `--regexp=${of.pattern}`];
  const output = await outputOf([...OPTIONS, ...what, '--', './'], of, deps);
  if (output === undefined) return undefined;
  const { chunks, incomplete } = output;
  const names = Buffer.concat(chunks).toString('utf8').split('\0');
  // The last is empty, or torn where it was stopped.
  names.pop();
  const paths = names.map((name) => name.replace(/^\.\//, '')).filter(isPlain);
  return { paths: paths.sort((a, b) => (a < b ? -1 : 1)), incomplete };
}

/** Whatever answers to the name of ripgrep, nothing hidden or outside is looked at. */
function isPlain(path: string): boolean {
  return path !== '' && path.split('/').every((name) => name !== '' && !name.startsWith('.'));
}

async function outputOf(
  args: readonly string[],
  { folder, timeoutMs }: { folder: string; timeoutMs: number },
  { program, mark, pipes, groups }: RipgrepDeps,
) {
  const pipe = await pipes.take();
  const chunks: Buffer[] = [];
  let length = 0;
  let stop: (why: 'limit' | 'timeout') => void = () => undefined;
  const stopped = new Promise<'limit' | 'timeout'>((resolve) => {
    stop = resolve;
  });
  const reader: PipeReader = createPipeReader(
    pipe.readFd,
    (chunk) => {
      length += chunk.length;
      if (length <= MAX_PATHS) chunks.push(Buffer.from(chunk));
      else stop('limit');
    },
    () => undefined,
  );
  const timer = setTimeout(() => stop('timeout'), timeoutMs);
  try {
    const child = await spawnBackground({
      file: program,
      args,
      env: { TALARIA_SANDBOX: mark },
      cwd: folder,
      stdio: { input: 'ignore', output: pipe.writeFd, errors: 'ignore' },
    });
    groups.add(child.pid);
    const exited = child.exited.then((exitCode) => {
      groups.leaderEnded(child.pid);
      return exitCode;
    });
    const end = await Promise.race([exited, stopped]);
    if (typeof end === 'string') groups.kill(child.pid);
    reader.finish();
    if (typeof end === 'number' && end !== (length > 0 ? FOUND : FOUND_NOTHING)) return undefined;
    return { chunks, incomplete: typeof end === 'string' ? end : ('no' as const) };
  } catch {
    // Not a program, or no room to start one: the built-in search needs neither.
    return undefined;
  } finally {
    clearTimeout(timer);
    reader.close();
    closeSync(pipe.writeFd);
  }
}
