import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SandboxProcessError } from '../../../core/ports/sandbox.ts';
import { findProgram } from './find-program.ts';
import { quoted } from './quoted.ts';

/** Terminals as programs find them. */
const ROWS = 24;
const COLUMNS = 80;
const KIND = 'xterm-256color';

/** How to give a program a terminal: util-linux' `script`, and `stty` to set the terminal's size. */
export interface TerminalProgram {
  /** Path of the program and what stands before its own arguments. */
  script: readonly [string, ...string[]];
  /** Path, or undefined where there is none: the terminal has no size then. */
  stty: string | undefined;
}

/** A terminal that is asked for. */
export interface Terminal {
  program: TerminalProgram;
  /** Where the shell in it notes its session. */
  sessionFile: string;
}

/** Undefined where none is asked for. Throws `SandboxProcessError` where none can be had. */
export async function takeTerminal(
  { pty }: { pty?: boolean },
  find: () => Promise<TerminalProgram | undefined>,
  sessionFile: string,
): Promise<Terminal | undefined> {
  if (pty !== true) return undefined;
  const program = await find();
  if (program !== undefined) return { program, sessionFile };
  throw new SandboxProcessError(
    "no terminal can be had here, since util-linux' script is missing; nothing was run. Run the command without pty, with options that need no terminal (-y, --batch, --no-pager), or with background and answer its questions by process",
    'no_terminal',
  );
}

/**
 * The `script` in a PATH value, if it is util-linux' own of 2.35 or later: others take other
 * arguments (macOS, busybox) or can't be told to echo.
 */
export async function findTerminalProgram(path: string): Promise<TerminalProgram | undefined> {
  const script = findProgram('script', path);
  if (script === undefined) return undefined;
  const asked = promisify(execFile)(script, ['--version'], { env: { PATH: path }, timeout: 5_000 });
  const { stdout } = await asked.catch(() => ({ stdout: '' }));
  const [, major, minor] = /util-linux (\d+)\.(\d+)/.exec(stdout) ?? [];
  const isKnown = Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 35);
  return isKnown ? { script: [script], stty: findProgram('stty', path) } : undefined;
}

export interface ShellStart {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

/**
 * What to start so that a shell runs in a terminal, and a session, of its own: its output comes on
 * standard output, its exit code is the shell's. The shell itself where no terminal is asked for.
 */
export function inTerminal(terminal: Terminal | undefined, shell: ShellStart): ShellStart {
  if (terminal === undefined) return shell;
  const { program, sessionFile } = terminal;
  const [file, ...before] = program.script;
  const command = [
    `echo $$ > ${quoted(sessionFile)}`,
    ...(program.stty === undefined ? [] : [sizeCommand(program.stty)]),
    `exec ${[shell.file, ...shell.args].map(quoted).join(' ')}`,
  ].join('; ');
  const options = ['--quiet', '--return', '--flush', '--echo', 'always', '--command', command];
  return {
    file,
    args: [...before, ...options, '/dev/null'],
    // By which it runs its command.
    env: { ...shell.env, SHELL: shell.file },
  };
}

/** Value of TERM in it, or "" without one. */
export function terminalKind(terminal: Terminal | undefined): string {
  return terminal === undefined ? '' : KIND;
}

function sizeCommand(stty: string): string {
  return `${quoted(stty)} rows ${ROWS} cols ${COLUMNS} 2>/dev/null`;
}
