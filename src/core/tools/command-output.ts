import type { CommandResult } from '../ports/sandbox.ts';
import { firstOf, lastOf } from './cut-text.ts';
import { safeText } from './safe-text.ts';

/** Characters of output shown: all up to their sum, else so many from the beginning and the end. */
const HEAD = 20_000;
const TAIL = 30_000;
/** Thrown away next to where the sandbox cut, in bytes: a secret cut in two there lies in it. */
const MARGIN = 8_192;
/** UTF-8 bytes that one UTF-16 unit can take. */
const BYTES_A_CHARACTER = 3;

/** What to ask the sandbox for, so that `shownOutput` has enough. */
export const OUTPUT_TO_KEEP = {
  headBytes: HEAD * BYTES_A_CHARACTER + MARGIN,
  tailBytes: TAIL * BYTES_A_CHARACTER + MARGIN,
};

/**
 * A command's output as the model reads it: safe text, without secrets, cut in the middle with a
 * line that says how much is missing.
 */
export function shownOutput(result: CommandResult, redact: (text: string) => string): string {
  // Cleaned first: a colour code inside a secret would hide it from the redaction.
  const head = redact(safeText(result.head));
  if (result.omittedBytes === 0) {
    if (head.length <= HEAD + TAIL) return head;
    const cut = head.length - HEAD - TAIL;
    return joined(firstOf(head, HEAD), lastOf(head, TAIL), `${cut} characters`);
  }
  const tail = redact(safeText(result.tail));
  const first = firstOf(head, Math.min(HEAD, Math.max(0, head.length - MARGIN)));
  const last = lastOf(tail, Math.min(TAIL, Math.max(0, tail.length - MARGIN)));
  const cut = result.omittedBytes + head.length - first.length + tail.length - last.length;
  return joined(first, last, `about ${cut} bytes`);
}

function joined(first: string, last: string, cut: string): string {
  const hint = 'write long output to a file and read the part you need';
  return `${first}\n[… ${cut} of output cut here; ${hint} …]\n${last}`;
}
