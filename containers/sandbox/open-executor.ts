import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createExecutor } from '../../src/adapters/sandbox/executor/executor.ts';
import { makeFolders } from '../../src/adapters/sandbox/executor/make-folders.ts';
import { createOutputPipes } from '../../src/adapters/sandbox/executor/output-pipes.ts';
import type { TerminalProgram } from '../../src/adapters/sandbox/executor/terminal-program.ts';
import { findShell } from '../../src/adapters/sandbox/find-shell.ts';
import type { OpenedSandbox } from '../../src/adapters/sandbox/protocol/serve-sandbox.ts';
import { DEFAULT_PATH } from './image-environment.ts';
import { memoryKills } from './memory-kills.ts';

export interface OpenExecutorDeps {
  /** Where the sandbox runtime is mounted. */
  runtime: string;
  /** Private folder of this sandbox. */
  io: string;
  /** The image's own environment. */
  image: Readonly<Record<string, string>>;
  user: string;
  /** The image's WORKDIR: the daemon's own folder at its start. */
  workdir: string;
}

/** The highest: memory that runs out must end a command, not the daemon and with it the sandbox. */
const FIRST_TO_END = 1000;

/**
 * An executor over a whole container, in whatever is there of shell, HOME and folders. Rejects where
 * `cwd` is no folder and can't be made one.
 */
export async function openExecutor(
  { cwd, mark }: { cwd: string; mark: string },
  deps: OpenExecutorDeps,
): Promise<OpenedSandbox> {
  const stateFolder = join(deps.io, 'state');
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
  const home = await firstWritable([
    deps.image['HOME'] ?? '/',
    '/workspace',
    join(deps.io, 'home'),
  ]);
  const base = deps.workdir === '/' ? home : deps.workdir;
  const start = resolve(base, cwd);
  await makeFolders(start);
  if (!statSync(start).isDirectory()) throw new Error(`cwd: ${start} is no folder`);
  const imagePath = deps.image['PATH'] ?? DEFAULT_PATH;
  const ownShell = findShell(imagePath);
  const programs = join(deps.runtime, 'bin');
  const shell = ownShell ?? join(programs, 'sh');
  const env = {
    LANG: 'C.UTF-8',
    ...deps.image,
    // An image without a shell has none of the programs either that commands are made of.
    PATH: ownShell === undefined ? `${imagePath}:${programs}` : imagePath,
    HOME: home,
    TMPDIR: isWritable('/tmp') ? '/tmp' : ownFolder(join(deps.io, 'tmp')),
    USER: deps.user,
    SHELL: shell,
    TERM: 'dumb',
  };
  const mkfifo = { file: join(programs, 'mkfifo'), path: programs };
  const pipes = createOutputPipes({ folder: join(deps.io, 'pipes'), mkfifo });
  pipes.prepare();
  const sandbox = createExecutor({
    shell,
    env,
    stateFolder,
    home,
    cwd: start,
    roots: ['/'],
    mark,
    pipes,
    terminal: async () => terminalProgram(deps.runtime),
    oomScore: FIRST_TO_END,
    memoryKills,
  });
  return { sandbox, home, cwd: start };
}

/** The runtime's own, by its own loader: the image may have none, or another C library. */
function terminalProgram(runtime: string): TerminalProgram | undefined {
  const loader = readdirSync(runtime).find((name) => name.startsWith('ld-linux-'));
  const script = join(runtime, 'script');
  if (loader === undefined || !existsSync(script)) return undefined;
  return {
    script: [join(runtime, loader), '--library-path', join(runtime, 'lib'), script],
    stty: join(runtime, 'bin', 'stty'),
  };
}

/** The first that is there or can be made, `/` left out: nothing is to be strewn over an image's root. */
async function firstWritable(folders: readonly string[]): Promise<string> {
  for (const folder of folders) {
    if (folder.startsWith('/') && folder !== '/' && (await canBeUsed(folder))) return folder;
  }
  throw new Error(`no folder to work in: tried ${folders.join(', ')}`);
}

async function canBeUsed(folder: string): Promise<boolean> {
  try {
    await makeFolders(folder);
    return isWritable(folder);
  } catch {
    return false;
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}

function ownFolder(folder: string): string {
  mkdirSync(folder, { recursive: true });
  return folder;
}
