import { basename, dirname, join } from 'node:path';
import { type Sandbox, SandboxLostError } from '../../../core/ports/sandbox.ts';
import { createBackgroundProcesses } from './background-processes.ts';
import { findProgram } from './find-program.ts';
import { assertNoFolder, deleteFile, renameToFree } from './move-file.ts';
import { openRegularFile, readStart } from './open-regular-file.ts';
import type { OutputPipes } from './output-pipes.ts';
import type { PipeReader } from './pipe-reader.ts';
import { createProcessGroups } from './process-groups.ts';
import type { RipgrepDeps } from './ripgrep-files.ts';
import { createCommandRunner } from './run-command.ts';
import { createSandboxPaths } from './sandbox-paths.ts';
import { searchFiles } from './search-files.ts';
import type { TerminalProgram } from './terminal-program.ts';
import { writeFileWhole } from './write-file-whole.ts';

export interface ExecutorDeps {
  /** Path of bash or a POSIX sh. */
  shell: string;
  /** Environment of the first command; nothing else is handed to it. */
  env: Readonly<Record<string, string>>;
  /** Private folder, on this machine's disk, for shell state. */
  stateFolder: string;
  /** The sandbox's home: `~`, and where commands go when their folder is gone. */
  home: string;
  /** Absolute folder of the first command. */
  cwd: string;
  /** Real paths of the folders that file operations may touch; `/` for all. */
  roots: readonly string[];
  /** Value of TALARIA_SANDBOX in every command's environment. */
  mark: string;
  pipes: OutputPipes;
  /** How to give a command a terminal, or undefined where that can't be; asked when first needed. */
  terminal(): Promise<TerminalProgram | undefined>;
  /**
   * What commands add to their chance of being ended where memory runs out, up to 1000, so that not
   * the one who runs them is; undefined for nothing.
   */
  oomScore?: number;
  /** How many processes were ended so far because memory ran out; without it nobody can tell. */
  memoryKills?(): number;
}

/** Last parts of paths that name a folder, whatever is there. */
const FOLDER_NAMES: ReadonlySet<string> = new Set(['', '.', '..', '~']);

/**
 * Runs commands and file operations where it runs itself: beneath the process sandbox, or inside a
 * container. `close` ends the processes; the folders are the caller's to remove.
 */
export function createExecutor(deps: ExecutorDeps): Sandbox {
  const groups = createProcessGroups();
  const readers = new Set<PipeReader>();
  const commands = createCommandRunner({ ...deps, groups, readers }, deps.cwd);
  const background = createBackgroundProcesses({ ...deps, groups, commands });
  const paths = createSandboxPaths({ ...deps, cwd: commands.cwd });
  let isClosed = false;

  function ripgrep(): RipgrepDeps | undefined {
    const program = findProgram('rg', deps.env['PATH'] ?? '');
    return program === undefined ? undefined : { ...deps, program, groups };
  }

  function assertOpen(): void {
    if (isClosed) throw new SandboxLostError('the sandbox is closed');
  }

  async function onFile<T>(path: string, operate: (real: string) => Promise<T>): Promise<T> {
    assertOpen();
    try {
      return await operate(await paths.locate(path));
    } catch (error) {
      throw await paths.explain(error, path);
    }
  }

  /** As `onFile`, but a link is taken itself, not followed. */
  function onEntry<T>(path: string, operate: (real: string) => Promise<T>): Promise<T> {
    const name = basename(path);
    if (FOLDER_NAMES.has(name) || path.includes('\0')) return onFile(path, operate);
    return onFile(dirname(path), (folder) =>
      operate(join(folder, name)).catch(async (error: unknown) => {
        throw await paths.explain(error, path);
      }),
    );
  }

  async function whileOpen<T>(operate: () => Promise<T>): Promise<T> {
    assertOpen();
    const result = await operate();
    assertOpen();
    return result;
  }

  return {
    run: (request) => whileOpen(() => commands.run(request)),
    startProcess: (request) => whileOpen(() => background.startProcess(request)),
    listProcesses: () => whileOpen(() => background.listProcesses()),
    waitForProcess: (id, limit) => whileOpen(() => background.waitForProcess(id, limit)),
    processOutput: (id, maxBytes) => whileOpen(() => background.processOutput(id, maxBytes)),
    writeToProcess: (id, bytes) => whileOpen(() => background.writeToProcess(id, bytes)),
    closeProcessInput: (id) => whileOpen(() => background.closeProcessInput(id)),
    killProcess: (id) => whileOpen(() => background.killProcess(id)),
    readFile: (path, maxBytes) =>
      onFile(path, async (real) => {
        const file = await openRegularFile(real, path);
        try {
          const bytes = await readStart(file, maxBytes);
          return { bytes, size: Math.max(file.size, bytes.length) };
        } finally {
          await file.handle.close();
        }
      }),
    writeFile: (path, bytes) => onFile(path, (real) => writeFileWhole(real, bytes, path)),
    deleteFile: (path) => onEntry(path, (real) => deleteFile(real, path)),
    moveFile: (from, to) =>
      onEntry(from, async (real) => {
        await assertNoFolder(real, from);
        await onEntry(to, (realTo) => renameToFree(real, realTo, to));
      }),
    search: (request) => onFile(request.path, (real) => searchFiles(real, request, ripgrep())),
    async close() {
      isClosed = true;
      groups.killAll();
      for (const reader of readers) reader.close();
      background.close();
    },
  };
}
