import { quoted } from './quoted.ts';
import { raiseOomScore } from './shell-script.ts';

/**
 * What the shell of a background process runs around its command: takes over exports and directory
 * as `snapshotCommand` wrote them. Works in bash, dash and busybox ash. The command comes by an
 * environment variable, which neither its children nor `pkill -f` see.
 */
const SCRIPT = [
  raiseOomScore('$5'),
  '__talaria_command=$TALARIA_COMMAND',
  'unset TALARIA_COMMAND',
  '. "$1" 2>/dev/null',
  'cd "$2" || exit',
  '[ -z "$3" ] || cd "$3" || exit',
  '[ -z "$4" ] || export TERM="$4"',
  'set --',
  'eval "$__talaria_command"',
].join('; ');

export interface BackgroundArguments {
  /** File of exports, as `snapshotCommand` made it. */
  exportsFile: string;
  /** Absolute. */
  cwd: string;
  /** Below `cwd` or absolute, or "". */
  workdir: string;
  /** Kind of the terminal it has, or "". */
  terminal: string;
  /** As for `shellArguments`. */
  oomScore: string;
}

/** Arguments of `bash` or `sh`; the name after the script is what the shell's messages begin with. */
export function backgroundArguments(of: BackgroundArguments, shellName: string): string[] {
  // The prefix keeps an exported CDPATH out of it.
  const workdir = of.workdir === '' || of.workdir.startsWith('/') ? of.workdir : `./${of.workdir}`;
  const parameters = [of.exportsFile, of.cwd, workdir, of.terminal, of.oomScore];
  return ['-c', SCRIPT, shellName, ...parameters];
}

/** A command that writes the shell's exports to a file, whatever the shell's options are. */
export function snapshotCommand(exportsFile: string): string {
  return `{ command export -p; } 2>/dev/null >| ${quoted(exportsFile)}`;
}
