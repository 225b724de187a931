import { closeSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { CommandRequest, CommandResult } from '../../../core/ports/sandbox.ts';
import { commandEnd } from './command-end.ts';
import { commandText } from './command-text.ts';
import { plainLineEnds } from './line-ends.ts';
import { createOutputCollector } from './output-collector.ts';
import type { OutputPipes } from './output-pipes.ts';
import { createPipeReader, type PipeReader } from './pipe-reader.ts';
import type { ProcessGroups } from './process-groups.ts';
import { shellArguments } from './shell-script.ts';
import { acceptShellState } from './shell-state.ts';
import { type ShellProcess, spawnShell } from './spawn-shell.ts';
import {
  inTerminal,
  type Terminal,
  type TerminalProgram,
  takeTerminal,
  terminalKind,
} from './terminal-program.ts';

const NOTHING: CommandRequest = {
  command: ':',
  timeoutMs: 10_000,
  keep: { headBytes: 0, tailBytes: 0 },
};

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
  terminal(): Promise<TerminalProgram | undefined>;
  oomScore?: number;
  memoryKills?(): number;
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

  function start(
    request: CommandRequest,
    to: {
      number: number;
      nextStateFile: string;
      outputFd: number;
      terminal: Terminal | undefined;
    },
  ): Promise<ShellProcess> {
    const args = {
      stateFile,
      cwd,
      fallbackCwd: deps.home,
      nextStateFile: to.nextStateFile,
      workdir: request.workdir ?? '',
      mark: deps.mark,
      terminal: terminalKind(to.terminal),
      oomScore: String(deps.oomScore ?? ''),
    };
    const commandFile = join(deps.stateFolder, `command-${to.number}`);
    const shell = {
      file: deps.shell,
      args: shellArguments(args, basename(deps.shell)),
      env: {
        // An exported variable that a command unset must not come back.
        ...(hasState ? {} : deps.env),
        TALARIA_SANDBOX: deps.mark,
        TALARIA_COMMAND: commandText(request.command, commandFile),
      },
    };
    const { terminal, outputFd } = to;
    return spawnShell({ ...inTerminal(terminal, shell), cwd: deps.stateFolder, outputFd });
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
    const number = count;
    const sessionFile = join(deps.stateFolder, `session-${number}`);
    const terminal = await takeTerminal(request, deps.terminal, sessionFile);
    // What gives a terminal must not meet the environment of commands, an LD_PRELOAD in it: from now
    // on that comes by the shell state.
    if (terminal !== undefined && !hasState) await run(NOTHING);
    return await runShell(request, number, terminal);
  }

  async function runShell(
    request: CommandRequest,
    number: number,
    terminal: Terminal | undefined,
  ): Promise<CommandResult> {
    const nextStateFile = join(deps.stateFolder, `next-${number}`);
    const output = createOutputCollector(request.keep);
    const add = terminal === undefined ? output.add : plainLineEnds(output.add);
    const pipe = await deps.pipes.take();
    const outputFd = pipe.writeFd;
    const reader = createPipeReader(pipe.readFd, add, () => deps.readers.delete(reader));
    deps.readers.add(reader);
    let shell: ShellProcess;
    try {
      shell = await start(request, { number, nextStateFile, outputFd, terminal });
    } catch (error) {
      reader.close();
      throw error;
    } finally {
      closeSync(outputFd);
    }
    const killsBefore = deps.memoryKills?.() ?? 0;
    const end = await commandEnd(shell, request, deps.groups, terminal?.sessionFile);
    reader.finish();
    if (end.stopped === 'no') takeState(nextStateFile);
    const ranOut = end.exitCode !== 0 && (deps.memoryKills?.() ?? 0) > killsBefore;
    return { ...output.collected(), ...end, ...(ranOut && { outOfMemory: true }) };
  }

  return { run, cwd: () => cwd };
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
