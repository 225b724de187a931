import { mkdirSync, mkdtempSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, realpath } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, join } from 'node:path';
import {
  type Sandbox,
  SandboxLostError,
  type SandboxProvider,
  type SandboxSpec,
} from '../../core/ports/sandbox.ts';
import { sandboxCwdProblem } from '../../core/work/process-cwd.ts';
import { assertRoom, withRoom } from './disk-room.ts';
import { createExecutor } from './executor/executor.ts';
import { createOutputPipes, type OutputPipes } from './executor/output-pipes.ts';
import { findTerminalProgram, type TerminalProgram } from './executor/terminal-program.ts';
import { removeTree } from './remove-tree.ts';
import { createSandboxOwner, type SandboxOwner } from './sandbox-owner.ts';
import { killMarked, type Swept, sweepDeadOwners } from './sweep-sandboxes.ts';

export interface ProcessSandboxDeps {
  /** Folder for all sandboxes of this user, such as <tmp>/talaria-<uid>; made if missing. */
  root: string;
  /**
   * The same for pipes and shell state, small and short-lived, on a file system in memory if there
   * is one: on a disk each costs a journal entry. Not for what commands write.
   */
  memoryRoot?: string | undefined;
  /** Path of bash or sh, see `findShell`. */
  shell: string;
  /** PATH of the commands; `mkfifo` is found by it too. */
  path: string;
}

export interface ProcessSandboxProvider extends SandboxProvider {
  /**
   * Removes what runners that died left behind: their sandboxes' folders and processes. Throws
   * `SandboxLostError` where no sandbox could be made.
   */
  sweep(): Promise<Swept>;
  /**
   * Ends processes of closed sandboxes that had left their process group by `setsid`; resolves to
   * how many. Reads all of /proc: for the end of a pass, not for each prompt.
   */
  killStrays(): Promise<number>;
  /** Closes what is still open, then ends strays. Never throws. */
  close(): Promise<void>;
}

interface Shared {
  root: string;
  /** This process's own folder for pipes and shell state. */
  privateFolder: string;
  owner: SandboxOwner;
  pipes: OutputPipes;
}

/**
 * Sandboxes on this machine: a fresh folder each, a clean environment, processes ended with it.
 * No isolation: commands run as this user, see its files and processes, and reach its network.
 */
export function createProcessSandboxProvider(deps: ProcessSandboxDeps): ProcessSandboxProvider {
  const open = new Map<string, Sandbox>();
  const user = userName();
  let shared: Promise<Shared> | undefined;
  let terminal: Promise<TerminalProgram | undefined> | undefined;

  function getTerminal(): Promise<TerminalProgram | undefined> {
    terminal ??= findTerminalProgram(deps.path);
    return terminal;
  }

  function getShared(): Promise<Shared> {
    shared ??= prepare(deps).catch((error: unknown) => {
      // The next sandbox tries again.
      shared = undefined;
      throw error;
    });
    return shared;
  }

  async function openSandbox(spec: SandboxSpec): Promise<Sandbox> {
    const { root, privateFolder, owner, pipes } = await getShared();
    const disks = [root, privateFolder];
    assertRoom(disks);
    // Synchronous: a handful of small calls costs less than their way through the thread pool.
    const folder = mkdtempSync(join(root, owner.prefix));
    const mark = basename(folder);
    const home = join(folder, 'work');
    const temporary = join(folder, 'tmp');
    const stateFolder = join(privateFolder, mark);
    const cwd = join(home, spec.cwd);
    for (const path of [home, temporary, stateFolder]) mkdirSync(path);
    if (cwd !== home) mkdirSync(cwd, { recursive: true });
    const env = environment({ deps, user, home, temporary });
    const roots = [home, temporary];
    const inside = createExecutor({
      ...deps,
      env,
      stateFolder,
      home,
      cwd,
      roots,
      mark,
      pipes,
      terminal: getTerminal,
    });
    const sandbox: Sandbox = {
      ...inside,
      run: (request) => withRoom(disks, () => inside.run(request)),
      startProcess: (request) => withRoom(disks, () => inside.startProcess(request)),
      writeFile: (path, bytes) => withRoom(disks, () => inside.writeFile(path, bytes)),
      moveFile: (from, to) => withRoom(disks, () => inside.moveFile(from, to)),
      async close() {
        open.delete(mark);
        await inside.close();
        await Promise.all([removeTree(stateFolder), removeTree(folder)]);
      },
    };
    open.set(mark, sandbox);
    return sandbox;
  }

  async function killStrays(): Promise<number> {
    const { owner } = await getShared();
    return killMarked(async (mark) => mark.startsWith(owner.prefix) && !open.has(mark));
  }

  return {
    async open(spec) {
      const problem = sandboxCwdProblem(spec.cwd);
      if (problem !== undefined) throw new RangeError(`cwd: ${problem}`);
      try {
        return await openSandbox(spec);
      } catch (error) {
        throw asLost(error, deps.root);
      }
    },
    async sweep() {
      const { root, privateFolder, owner } = await getShared().catch((error: unknown) => {
        throw asLost(error, deps.root);
      });
      const swept = await sweepDeadOwners([root, deps.memoryRoot ?? root], owner);
      assertRoom([root, privateFolder]);
      return swept;
    },
    killStrays,
    async close() {
      if (shared === undefined) return;
      await Promise.all([...open.values()].map((sandbox) => sandbox.close()));
      await killStrays().catch(() => 0);
      await shared.then(({ privateFolder }) => removeTree(privateFolder)).catch(() => undefined);
    },
  };
}

function asLost(error: unknown, root: string): SandboxLostError {
  if (error instanceof SandboxLostError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new SandboxLostError(
    `no sandbox in ${root}: ${why}; TMPDIR may name another folder to make it in`,
    { cause: error },
  );
}

async function prepare(deps: ProcessSandboxDeps): Promise<Shared> {
  const root = await ownFolder(deps.root);
  const memory = deps.memoryRoot === undefined ? root : await ownFolder(deps.memoryRoot);
  const owner = await createSandboxOwner();
  const privateFolder = await mkdtemp(join(memory, `${owner.prefix}private-`));
  const mkfifo = { file: 'mkfifo', path: deps.path };
  const pipes = createOutputPipes({ folder: join(privateFolder, 'pipes'), mkfifo });
  return { root, privateFolder, owner, pipes };
}

/** Without `recursive` first: that calls a full or read-only disk ENOENT. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') await mkdir(path, { recursive: true, mode: 0o700 });
    else if (error.code !== 'EEXIST') throw error;
  });
}

async function ownFolder(path: string): Promise<string> {
  await makeFolder(path);
  const stat = await lstat(path);
  // In a shared /tmp somebody else may have made it first.
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) {
    throw new SandboxLostError(`${path}: expected a folder of this user's own`);
  }
  return await realpath(path);
}

function environment(of: {
  deps: ProcessSandboxDeps;
  user: string;
  home: string;
  temporary: string;
}) {
  return {
    PATH: of.deps.path,
    LANG: 'C.UTF-8',
    HOME: of.home,
    TMPDIR: of.temporary,
    USER: of.user,
    SHELL: of.deps.shell,
    TERM: 'dumb',
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A uid without an entry in the user database.
    return String(process.getuid?.() ?? '');
  }
}
