import { closeSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  type CommandRequest,
  type CommandResult,
  SandboxLostError,
} from '../../../core/ports/sandbox.ts';
import { commandEnd } from './command-end.ts';
import { createOutputCollector } from './output-collector.ts';
import type { OutputPipes } from './output-pipes.ts';
import { createPipeReader, type PipeReader } from './pipe-reader.ts';
import type { ProcessGroups } from './process-groups.ts';
import { quoted } from './quoted.ts';
import { shellArguments } from './shell-script.ts';
import { acceptShellState } from './shell-state.ts';
import { type ShellProcess, spawnShell } from './spawn-shell.ts';

/** Linux takes 128 KiB in one variable; longer commands go by a file. */
const MAX_COMMAND_IN_ENVIRONMENT = 100_000;

export interface CommandRunnerDeps {
  shell: string;
  /** What the first command starts with; later ones start from what the one before left. */
  env: Readonly<Record<string, string>>;
  /** Private folder for command texts and shell state; a command without it can't start. */
  stateFolder: string;
  /** Where commands go when their working directory is gone. */
  home: string;
  /** Value of TALARIA_SANDBOX in every command's environment. */
  mark: string;
  pipes: OutputPipes;
  groups: ProcessGroups;
  /** Pipes still read, to be closed with the sandbox. */
  readers: Set<PipeReader>;
}

export interface CommandRunner {
  run(request: CommandRequest): Promise<CommandResult>;
  cwd(): string;
}

/** Runs commands one shell each, handing working directory and exports from one to the next. */
export function createCommandRunner(deps: CommandRunnerDeps, startCwd: string): CommandRunner {
  const stateFile = join(deps.stateFolder, 'state');
  let cwd = startCwd;
  let hasState = false;
  let count = 0;

  function start(request: CommandRequest, nextStateFile: string, outputFd: number) {
    const args = {
      stateFile,
      cwd,
      fallbackCwd: deps.home,
      nextStateFile,
      workdir: request.workdir ?? '',
      mark: deps.mark,
    };
    const commandFile = join(deps.stateFolder, `command-${count}`);
    return spawnShell({
      shell: deps.shell,
      args: shellArguments(args, basename(deps.shell)),
      env: {
        // An exported variable that a command unset must not come back.
        ...(hasState ? {} : deps.env),
        TALARIA_SANDBOX: deps.mark,
        TALARIA_COMMAND: commandText(request.command, commandFile),
      },
      cwd: deps.stateFolder,
      outputFd,
    });
  }

  function takeState(nextStateFile: string): void {
    const directory = acceptShellState(nextStateFile, stateFile);
    if (directory === undefined) return;
    cwd = directory;
    hasState = true;
  }

  async function run(request: CommandRequest): Promise<CommandResult> {
    if (`${request.command}${request.workdir ?? ''}`.includes('\0')) return nulRefusal();
    count += 1;
    const nextStateFile = join(deps.stateFolder, `next-${count}`);
    const output = createOutputCollector(request.keep);
    const pipe = await deps.pipes.take();
    const reader = createPipeReader(pipe.readFd, output.add, () => deps.readers.delete(reader));
    deps.readers.add(reader);
    let shell: ShellProcess;
    try {
      shell = await start(request, nextStateFile, pipe.writeFd);
    } catch (error) {
      reader.close();
      throw error;
    } finally {
      closeSync(pipe.writeFd);
    }
    const end = await commandEnd(shell, request, deps.groups);
    reader.finish();
    if (end.stopped === 'no') takeState(nextStateFile);
    return { ...output.collected(), ...end };
  }

  return { run, cwd: () => cwd };
}

function commandText(command: string, file: string): string {
  if (Buffer.byteLength(command) <= MAX_COMMAND_IN_ENVIRONMENT) return command;
  try {
    writeFileSync(file, command);
  } catch (error) {
    throw new SandboxLostError(`no room for a command's text: ${String(error)}`, { cause: error });
  }
  return `. ${quoted(file)}`;
}

function nulRefusal(): CommandResult {
  const text = "talaria: a command and its folder can hold no NUL byte; use printf '\\0' instead\n";
  return {
    head: Buffer.from(text),
    tail: new Uint8Array(),
    omittedBytes: 0,
    exitCode: 126,
    stopped: 'no',
  };
}
