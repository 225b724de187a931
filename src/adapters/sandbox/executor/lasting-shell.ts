import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SandboxLostError } from '../../../core/ports/sandbox.ts';
import type { ProcessGroups } from './process-groups.ts';
import { quoted } from './quoted.ts';
import { SHELL_SCRIPT, type ShellArguments, shellParameters } from './shell-script.ts';
import { exitCodeOf, type ShellEnd, type ShellProcess } from './spawn-shell.ts';

/**
 * What the lasting shell itself runs: it reads the name of a file, a line each, and evaluates what
 * the file holds. By a file, since a shell reads its input byte by byte. Job control gives each
 * command a process group of its own.
 */
const LOOP = [
  'set -m',
  'while IFS= read -r __talaria_file; do IFS= read -r -d "" __talaria_text < "$__talaria_file"; eval "$__talaria_text"; done',
].join('; ');

export interface LastingShellDeps {
  /** Path of bash 5 or newer (`wait -f`, which waits for the end and not for a stop). */
  shell: string;
  env: Readonly<Record<string, string>>;
  stateFolder: string;
  /** Value of TALARIA_SANDBOX in every command's environment. */
  mark: string;
  /** Gets the shell's own process group, to be killed with the sandbox. */
  groups: ProcessGroups;
}

export interface LastingShellCommand {
  args: ShellArguments;
  command: string;
  /** Variables of the environment on which the state file has the last word. */
  forget: readonly string[];
  /** A named pipe for the output. */
  outputPath: string;
}

/** One shell for all commands of a sandbox: a command costs a fork, not the start of a program. */
export interface LastingShell {
  /**
   * Starts a command in a process group of its own; resolves once that has opened its output.
   * Throws `SandboxLostError`.
   */
  start(command: LastingShellCommand): Promise<ShellProcess>;
}

interface Running {
  pid: number | undefined;
  started(pid: number): void;
  ended(end: ShellEnd): void;
  lost(error: SandboxLostError): void;
}

interface Shell {
  child: ChildProcess;
  running: Running | undefined;
}

/**
 * A lasting shell, begun with the first command and again after one that killed it. Each command
 * runs in a fork of it that gets directory and exports from the state file alone, just as a shell
 * of its own would.
 */
export function createLastingShell(deps: LastingShellDeps): LastingShell {
  let current: Shell | undefined;
  const requestFile = join(deps.stateFolder, 'request');

  function begin(): Shell {
    const child = spawn(deps.shell, ['-c', LOOP, basename(deps.shell)], {
      cwd: deps.stateFolder,
      env: { ...deps.env, TALARIA_SANDBOX: deps.mark },
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    });
    const { pid } = child;
    if (pid !== undefined) {
      deps.groups.add(pid);
      child.once('exit', () => deps.groups.leaderEnded(pid));
    }
    const shell: Shell = { child, running: undefined };
    const over = (why: string, exitCode: number) => {
      if (current === shell) current = undefined;
      end(shell, why, exitCode);
    };
    child.once('error', (error) => over(String(error), 126));
    child.once('exit', (code, signal) => over('it ended', exitCodeOf(code, signal)));
    child.stdin?.on('error', () => undefined);
    readReports(shell);
    return shell;
  }

  function shellForNext(): Shell {
    // One that still waits for a command which can't be killed is of no further use.
    if (current?.running !== undefined) {
      current.child.kill('SIGKILL');
      current = undefined;
    }
    current ??= begin();
    return current;
  }

  return {
    start(command) {
      return new Promise((resolve, reject) => {
        try {
          writeFileSync(requestFile, requestText(command));
          const shell = shellForNext();
          const exited = new Promise<ShellEnd>((ended) => {
            shell.running = {
              pid: undefined,
              ended,
              started: (pid) => resolve({ pid, exited }),
              lost: reject,
            };
          });
          shell.child.stdin?.write(`${requestFile}\n`);
        } catch (error) {
          const why = `the host could not start a shell: ${String(error)}`;
          reject(new SandboxLostError(why, { cause: error }));
        }
      });
    },
  };
}

/** The shell is gone. A command that killed it (`kill $$`) has killed itself by that. */
function end({ running }: Shell, why: string, exitCode: number): void {
  if (running === undefined) return;
  running.lost(new SandboxLostError(`the host could not run a shell: ${why}`));
  if (running.pid !== undefined) {
    try {
      process.kill(-running.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }
  running.ended({ exitCode, byItself: false });
}

function readReports(shell: Shell): void {
  const reports = shell.child.stdio[3];
  let rest = '';
  reports?.on('error', () => undefined);
  reports?.on('data', (chunk: Buffer) => {
    rest += chunk.toString('latin1');
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) report(shell, line);
  });
}

function report(shell: Shell, line: string): void {
  const { running } = shell;
  const value = Number(line.slice(1));
  if (running === undefined || !Number.isInteger(value)) return;
  if (line.startsWith('p')) {
    running.pid = value;
    running.started(value);
  } else {
    shell.running = undefined;
    running.ended({ exitCode: value, byItself: true });
  }
}

/** As one word on one line, so that lines of the command count from 1. Bash only. */
function quotedOnOneLine(text: string): string {
  const escaped = text.replace(/['\\]/g, '\\$&').replaceAll('\n', '\\n');
  return `$'${escaped}'`;
}

function requestText({ args, command, forget, outputPath }: LastingShellCommand): string {
  const inside = [
    // Only the loop needs it: the command's own background children stay in its group.
    'set +m',
    ...(forget.length === 0 ? [] : [`unset ${forget.join(' ')}`]),
    `TALARIA_COMMAND=${quotedOnOneLine(command)}`,
    `set -- ${shellParameters(args).map(quotedOnOneLine).join(' ')}`,
    SHELL_SCRIPT,
  ].join('; ');
  return [
    `exec 5>${quoted(outputPath)}`,
    `( ${inside} ) </dev/null >&5 2>&5 5>&- 3>&- & exec 5>&-`,
    "printf 'p%s\\n' $! >&3",
    'wait -f $!',
    "printf 'e%s\\n' $? >&3",
  ].join('; ');
}
