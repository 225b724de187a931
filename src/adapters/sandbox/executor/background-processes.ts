import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  type ProcessRequest,
  SandboxLostError,
  SandboxProcessError,
  type SandboxProcesses,
} from '../../../core/ports/sandbox.ts';
import { type BackgroundProcess, followProcess } from './background-process.ts';
import { backgroundArguments, snapshotCommand } from './background-script.ts';
import { commandText } from './command-text.ts';
import type { OutputPipes } from './output-pipes.ts';
import type { ProcessGroups } from './process-groups.ts';
import type { CommandRunner } from './run-command.ts';
import { spawnBackground } from './spawn-background.ts';
import {
  inTerminal,
  type TerminalProgram,
  takeTerminal,
  terminalKind,
} from './terminal-program.ts';

const MAX_PROCESSES = 32;
const SNAPSHOT_TIMEOUT_MS = 10_000;

export interface BackgroundDeps {
  shell: string;
  /** Private folder for command texts and exports. */
  stateFolder: string;
  /** Value of TALARIA_SANDBOX in the processes' environment. */
  mark: string;
  pipes: OutputPipes;
  groups: ProcessGroups;
  /** Where directory and exports come from. */
  commands: CommandRunner;
  terminal(): Promise<TerminalProgram | undefined>;
  oomScore?: number;
}

/** The background processes of one sandbox. `close` lets go of their pipes, their groups are killed elsewhere. */
export function createBackgroundProcesses(
  deps: BackgroundDeps,
): SandboxProcesses & { close(): void } {
  const processes = new Map<string, BackgroundProcess>();
  let count = 0;

  function get(id: string): BackgroundProcess {
    const found = processes.get(id);
    if (found !== undefined) return found;
    const known = [...processes.keys()].join(', ') || 'none was started';
    throw new SandboxProcessError(
      `no process ${JSON.stringify(id.slice(0, 100))}; expected one of: ${known}`,
      'unknown_process',
    );
  }

  function makeRoom(): void {
    if (processes.size < MAX_PROCESSES) return;
    const ended = [...processes].find(([, of]) => of.status().exitCode !== undefined);
    if (ended === undefined) {
      throw new SandboxProcessError(
        `${MAX_PROCESSES} background processes are running, and no more may; kill one first`,
        'too_many',
      );
    }
    ended[1].close();
    processes.delete(ended[0]);
  }

  async function start(request: ProcessRequest): Promise<BackgroundProcess> {
    makeRoom();
    count += 1;
    const id = `proc_${count}`;
    const sessionFile = join(deps.stateFolder, `${id}-session`);
    const terminal = await takeTerminal(request, deps.terminal, sessionFile);
    const exportsFile = join(deps.stateFolder, `${id}-exports`);
    await snapshot(exportsFile);
    const { command, workdir = '' } = request;
    const args = backgroundArguments(
      {
        exportsFile,
        cwd: deps.commands.cwd(),
        workdir,
        terminal: terminalKind(terminal),
        oomScore: String(deps.oomScore ?? ''),
      },
      basename(deps.shell),
    );
    const text = commandText(command, join(deps.stateFolder, `${id}-command`));
    const output = await deps.pipes.take();
    const input = await takeInput(deps.pipes);
    try {
      const env = { TALARIA_SANDBOX: deps.mark, TALARIA_COMMAND: text };
      const shell = { file: deps.shell, args, env };
      const child = await spawnBackground({
        ...inTerminal(terminal, shell),
        cwd: deps.stateFolder,
        stdio: { input: input.readFd, output: output.writeFd, errors: output.writeFd },
      });
      const started = followProcess({
        id,
        command,
        child,
        outputFd: output.readFd,
        inputFd: input.writeFd,
        groups: deps.groups,
        sessionFile: terminal?.sessionFile,
      });
      processes.set(id, started);
      return started;
    } catch (error) {
      closeSync(output.readFd);
      closeSync(input.writeFd);
      throw error;
    } finally {
      closeSync(output.writeFd);
      closeSync(input.readFd);
    }
  }

  async function snapshot(exportsFile: string): Promise<void> {
    const { exitCode } = await deps.commands.run({
      command: snapshotCommand(exportsFile),
      timeoutMs: SNAPSHOT_TIMEOUT_MS,
      keep: { headBytes: 0, tailBytes: 0 },
    });
    if (exitCode === 0) return;
    await rm(exportsFile, { force: true });
    throw new SandboxProcessError(
      'the exported variables could not be handed on, is the disk full? run it in the foreground, or free some space',
      'not_started',
    );
  }

  return {
    startProcess: async (request) => (await start(request)).status(),
    listProcesses: async () => [...processes.values()].map((of) => of.status()),
    async waitForProcess(id, { timeoutMs, signal }) {
      const found = get(id);
      await found.wait(timeoutMs, signal);
      return found.status();
    },
    processOutput: async (id, maxBytes) => get(id).output(maxBytes),
    writeToProcess: (id, bytes) => inProcess(id, (of) => of.input.write(bytes)),
    async closeProcessInput(id) {
      // A second call is none, also where the first one has ended the process.
      if (!get(id).input.wasEnded()) await inProcess(id, async (of) => of.input.end());
    },
    async killProcess(id) {
      const found = get(id);
      await found.kill();
      return found.status();
    },
    close() {
      for (const of of processes.values()) of.close();
    },
  };

  async function inProcess(id: string, act: (of: BackgroundProcess) => Promise<void>) {
    const found = get(id);
    const { exitCode } = found.status();
    if (exitCode !== undefined) {
      throw new SandboxProcessError(
        `${id}: has ended with exit code ${exitCode}; see its log, or start it again`,
        'input_closed',
      );
    }
    await act(found);
  }
}

/** A pipe whose reading end waits for data, as programs expect of their input. */
async function takeInput(pipes: OutputPipes) {
  const pipe = await pipes.takeNamed();
  try {
    const readFd = openSync(pipe.path, constants.O_RDONLY);
    return { readFd, writeFd: pipe.writeFd };
  } catch (error) {
    closeSync(pipe.writeFd);
    throw new SandboxLostError(`no pipe for a process's input: ${String(error)}`, { cause: error });
  } finally {
    closeSync(pipe.readFd);
    unlinkSync(pipe.path);
  }
}
