import { type Sandbox, SandboxLostError } from '../../../core/ports/sandbox.ts';
import { openRegularFile, readStart } from './open-regular-file.ts';
import type { OutputPipes } from './output-pipes.ts';
import type { PipeReader } from './pipe-reader.ts';
import { createProcessGroups } from './process-groups.ts';
import { createCommandRunner } from './run-command.ts';
import { createSandboxPaths } from './sandbox-paths.ts';
import { searchFiles } from './search-files.ts';
import { writeFileWhole } from './write-file-whole.ts';

export interface ExecutorDeps {
  /** Path of bash or a POSIX sh. */
  shell: string;
  /** Whether that is bash 5 or newer: then one shell serves all commands. */
  lastingShell: boolean;
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
}

/**
 * Runs commands and file operations where it runs itself: beneath the process sandbox, or inside a
 * container. `close` ends the processes; the folders are the caller's to remove.
 */
export function createExecutor(deps: ExecutorDeps): Sandbox {
  const groups = createProcessGroups();
  const readers = new Set<PipeReader>();
  const commands = createCommandRunner({ ...deps, groups, readers }, deps.cwd);
  const paths = createSandboxPaths({ ...deps, cwd: commands.cwd });
  let isClosed = false;

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

  return {
    async run(request) {
      assertOpen();
      const result = await commands.run(request);
      assertOpen();
      return result;
    },
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
    search: (request) => onFile(request.path, (real) => searchFiles(real, request)),
    async close() {
      isClosed = true;
      groups.killAll();
      for (const reader of readers) reader.close();
    },
  };
}
