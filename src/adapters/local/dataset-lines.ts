import { Buffer } from 'node:buffer';

/** Longest line that is held: 256 MiB, which is below V8's longest string. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** A line that is not blank, or the note that one was too long to hold. */
export type DatasetLine =
  | { lineNumber: number; bytes: Buffer }
  | { lineNumber: number; tooLongBytes: number };

export interface DatasetLinesOptions {
  /** A longer line is reported as `tooLongBytes` and not held. Default 256 MiB. */
  maxLineBytes?: number;
}

/**
 * The lines of a byte stream, ended by LF alone: U+2028 and a lone CR are text. A byte order mark
 * at the stream's start and the CR of a CRLF are dropped. Blank lines (spaces and tabs) are
 * skipped but counted: `lineNumber` is 1-based. Holds one line and one chunk at a time. `bytes`
 * may be a view of the chunk. Throws what the stream throws.
 */
export async function* datasetLines(
  stream: AsyncIterable<Uint8Array>,
  options: DatasetLinesOptions = {},
): AsyncGenerator<DatasetLine, void, undefined> {
  const pending = createPendingLine(options.maxLineBytes ?? MAX_LINE_BYTES);
  for await (const part of stream) {
    const chunk = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    let start = 0;
    let end = chunk.indexOf(LF);
    while (end !== -1) {
      const line = pending.finish(chunk.subarray(start, end));
      if (line !== undefined) yield line;
      start = end + 1;
      end = chunk.indexOf(LF, start);
    }
    pending.add(chunk.subarray(start));
  }
  const last = pending.finish(Buffer.alloc(0));
  if (last !== undefined) yield last;
}

/** The line that has begun and not ended. */
function createPendingLine(maxLineBytes: number) {
  let parts: Buffer[] = [];
  let length = 0;
  let lineNumber = 0;
  return {
    add(part: Buffer): void {
      length += part.length;
      if (length > maxLineBytes + BOM.length + 1) parts = [];
      else if (part.length > 0) parts.push(part);
    },
    finish(part: Buffer): DatasetLine | undefined {
      lineNumber += 1;
      this.add(part);
      const wholeLength = length;
      const [only] = parts;
      const whole = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
      parts = [];
      length = 0;
      if (whole.length < wholeLength) return { lineNumber, tooLongBytes: wholeLength };
      const bytes = bare(whole, lineNumber);
      if (bytes.length > maxLineBytes) return { lineNumber, tooLongBytes: wholeLength };
      return isBlank(bytes) ? undefined : { lineNumber, bytes };
    },
  };
}

function bare(line: Buffer, lineNumber: number): Buffer {
  const start = lineNumber === 1 && line.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0;
  const end = line.at(-1) === CR ? line.length - 1 : line.length;
  return line.subarray(start, Math.max(start, end));
}

function isBlank(line: Buffer): boolean {
  for (const byte of line) {
    if (byte !== 0x20 && byte !== 0x09 && byte !== CR) return false;
  }
  return true;
}
