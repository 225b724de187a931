const CARRIAGE_RETURN = 0x0d;
const NEWLINE = 0x0a;
/** A program that writes `\r\n` itself gets one more from the terminal. */
const MOST_BEFORE_NEWLINE = 2;

/**
 * Hands on a terminal's output with plain newlines: a terminal writes `\r\n` for each. What is
 * handed on is no part of the chunk.
 */
export function plainLineEnds(onChunk: (chunk: Uint8Array) => void): (chunk: Uint8Array) => void {
  /** Carriage returns at the end so far: whether they are handed on is not known yet. */
  let held = 0;

  return (chunk) => {
    const bytes = Buffer.alloc(held + chunk.length, CARRIAGE_RETURN);
    let length = 0;
    for (const byte of chunk) {
      if (byte === CARRIAGE_RETURN) {
        held += 1;
        continue;
      }
      length += byte === NEWLINE ? Math.max(0, held - MOST_BEFORE_NEWLINE) : held;
      held = 0;
      bytes[length] = byte;
      length += 1;
    }
    const sure = Math.max(0, held - MOST_BEFORE_NEWLINE);
    held -= sure;
    if (length + sure > 0) onChunk(bytes.subarray(0, length + sure));
  };
}
