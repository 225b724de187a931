import type { ProcessOutput } from '../../../core/ports/sandbox.ts';

const NEWLINE = 0x0a;
const FIRST_CAPACITY = 4 * 1024;

export interface RollingOutput {
  /** Takes a copy: the caller may use the chunk's memory again. */
  add(chunk: Uint8Array): void;
  /** At most `maxBytes` from the end of what is kept; a copy. */
  last(maxBytes: number): ProcessOutput;
}

/** Keeps the last `windowBytes` of a stream of any length, and counts what went before. */
export function createRollingOutput(windowBytes: number): RollingOutput {
  let buffer = Buffer.allocUnsafe(Math.min(FIRST_CAPACITY, windowBytes));
  let length = 0;
  let droppedBytes = 0;
  let droppedLines = 0;

  function drop(count: number): void {
    droppedLines += newlinesIn(buffer.subarray(0, count));
    droppedBytes += count;
    buffer.copyWithin(0, count, length);
    length -= count;
  }

  function makeRoom(count: number): void {
    if (length + count <= buffer.length) return;
    // Twice the window, so that bytes are moved once a window and not once a chunk.
    const wanted = Math.min(2 * windowBytes, Math.max(2 * buffer.length, length + count));
    if (wanted > buffer.length) {
      const larger = Buffer.allocUnsafe(wanted);
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
    if (length + count > buffer.length) drop(Math.max(0, length + count - windowBytes));
  }

  return {
    add(chunk) {
      for (let at = 0; at < chunk.length; at += windowBytes) {
        const part = chunk.subarray(at, at + windowBytes);
        makeRoom(part.length);
        buffer.set(part, length);
        length += part.length;
      }
    },
    last(maxBytes) {
      const kept = Math.max(0, Math.min(length, windowBytes, maxBytes));
      const from = length - kept;
      return {
        bytes: Uint8Array.from(buffer.subarray(from, length)),
        skippedBytes: droppedBytes + from,
        skippedLines: droppedLines + newlinesIn(buffer.subarray(0, from)),
      };
    },
  };
}

function newlinesIn(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte === NEWLINE) count += 1;
  return count;
}
