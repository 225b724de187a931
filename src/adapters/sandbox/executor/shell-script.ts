/**
 * Has the kernel end this shell and its children, rather than who started it, where memory runs out:
 * they may raise their own score, never lower it. An empty parameter leaves it as it is.
 */
export const raiseOomScore = (parameter: string) =>
  `[ -z "${parameter}" ] || { echo "${parameter}" > /proc/self/oom_score_adj; } 2>/dev/null`;

/**
 * What the shell runs around a command, as one line, so that the command's own first line is
 * line 1 in the shell's messages. Works in bash, dash and busybox ash.
 *
 * The command comes by an environment variable, which neither its children nor `pkill -f` see.
 * Directory and exports are written when the shell exits, to a file rather than to an extra
 * descriptor that children would inherit; a closing NUL tells a whole file from a torn one.
 * Positional parameters: see `shellArguments`.
 */
const SCRIPT = [
  raiseOomScore('$8'),
  '__talaria_command=$TALARIA_COMMAND',
  'unset TALARIA_COMMAND',
  // A missing file would end dash.
  '[ ! -r "$1" ] || . "$1" 2>/dev/null',
  '__talaria_next=$4',
  '__talaria_keep=',
  '__talaria_saved=',
  'export TALARIA_SANDBOX="$6"',
  '__talaria_terminal=$7',
  `[ -z "$7" ] || { __talaria_term=\${TERM-}; export TERM="$7"; }`,
  '__talaria_old=$OLDPWD',
  'cd "$2" 2>/dev/null || { echo "talaria: the working directory $2 is gone, starting in $3" >&2; mkdir -p "$3"; cd "$3" || exit; }',
  'if [ -n "$__talaria_old" ]; then OLDPWD=$__talaria_old; else unset OLDPWD; export OLDPWD; fi',
  '[ -z "$5" ] || { __talaria_keep=$PWD; cd "$5" || exit; }',
  // `command` passes by functions of the same name, `>|` the command's own `set -C`.
  // The next command has no terminal.
  `__talaria_save() { [ -n "$__talaria_saved" ] || { __talaria_saved=1; { if [ -n "$__talaria_terminal" ] && [ "\${TERM-}" = "$__talaria_terminal" ]; then TERM=$__talaria_term; fi; if [ -n "$__talaria_keep" ]; then command printf '%s\\n' "$__talaria_keep"; else command pwd; fi; command printf '\\0'; export -p; command printf '\\0'; } 2>/dev/null >| "$__talaria_next"; } 2>/dev/null || :; }`,
  // Switched off inside a redirection: the command's own `set -x` would show what comes after.
  `trap '{ set +x; } 2>/dev/null; __talaria_save' EXIT`,
  'set --',
  'eval "$__talaria_command"',
  // For a command that put its own EXIT trap in place of ours.
  '{ __talaria_status=$?; set +x; } 2>/dev/null',
  '__talaria_save',
  'exit "$__talaria_status"',
].join('; ');

export interface ShellArguments {
  /** File of exported variables to start from; may be missing. */
  stateFile: string;
  /** Absolute folder to start in. */
  cwd: string;
  /** Where to start if that is gone; made if missing. */
  fallbackCwd: string;
  /** Where to write directory and exports at the end. */
  nextStateFile: string;
  /** Folder for this command only, or "". */
  workdir: string;
  /** Value of TALARIA_SANDBOX. */
  mark: string;
  /** Kind of the terminal it has, or "". */
  terminal: string;
  /** Of the shell and its children, or "" for that of who starts it; see `raiseOomScore`. */
  oomScore: string;
}

/** Arguments of `bash` or `sh`; the name after the script is what the shell's messages begin with. */
export function shellArguments(of: ShellArguments, shellName: string): string[] {
  const workdir = of.workdir === '' || of.workdir.startsWith('/') ? of.workdir : `./${of.workdir}`;
  const parameters = [
    of.stateFile,
    of.cwd,
    of.fallbackCwd,
    of.nextStateFile,
    // The prefix keeps an exported CDPATH out of it.
    workdir,
    of.mark,
    of.terminal,
    of.oomScore,
  ];
  return ['-c', SCRIPT, shellName, ...parameters];
}
