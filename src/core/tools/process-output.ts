import type { ProcessOutput, ProcessStatus } from '../ports/sandbox.ts';
import { firstOf, lastOf } from './cut-text.ts';
import { safeText } from './safe-text.ts';

/** Characters thrown away where the sandbox cut: a secret cut in two there lies in them. */
const MARGIN = 8_192;
/** UTF-8 bytes that one UTF-16 unit can take. */
const BYTES_A_CHARACTER = 3;

/** What to ask the sandbox for, so that `lastCharacters` has enough. */
export function bytesFor(characters: number): number {
  return (characters + MARGIN) * BYTES_A_CHARACTER;
}

/** The last characters of an output: safe text, without secrets, from a line's beginning. */
export function lastCharacters(
  output: ProcessOutput,
  characters: number,
  redact: (text: string) => string,
): string {
  const { text } = keptText(output, redact);
  if (text.length <= characters) return text;
  const end = lastOf(text, characters);
  const newline = end.indexOf('\n');
  return newline === -1 || newline === end.length - 1 ? end : end.slice(newline + 1);
}

/** Lines of an output, numbered from its very beginning. */
export interface OutputLines {
  lines: string[];
  /** 0-based number of the first. */
  first: number;
}

/** All lines that are kept; a last one without newline counts. */
export function keptLines(output: ProcessOutput, redact: (text: string) => string): OutputLines {
  const { text, skippedLines } = keptText(output, redact);
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return { lines, first: skippedLines };
}

function keptText(output: ProcessOutput, redact: (text: string) => string) {
  // Cleaned first: a colour code inside a secret would hide it from the redaction.
  const whole = redact(safeText(output.bytes));
  if (output.skippedBytes === 0) return { text: whole, skippedLines: 0 };
  const newline = whole.indexOf('\n', MARGIN);
  const from = newline === -1 ? MARGIN : newline + 1;
  const skippedLines = output.skippedLines + (whole.slice(0, from).split('\n').length - 1);
  return { text: whole.slice(from), skippedLines };
}

/** What every answer about a process begins with. */
export function shownStatus(status: ProcessStatus, redact: (text: string) => string) {
  const { exitCode } = status;
  return {
    session_id: status.id,
    command: firstShown(redact(status.command)),
    status: exitCode === undefined ? 'running' : 'exited',
    pid: status.pid,
    uptime_seconds: Math.floor(status.runMs / 1_000),
    ...(exitCode === undefined ? {} : { exit_code: exitCode }),
  };
}

const MAX_COMMAND = 200;

function firstShown(command: string): string {
  return command.length <= MAX_COMMAND ? command : `${firstOf(command, MAX_COMMAND)}…`;
}
