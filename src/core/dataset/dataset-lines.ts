import { joinBytes } from './join-bytes.ts';

/** Longest line that is held: 256 MiB, which is below V8's longest string. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;
const BOM = [0xef, 0xbb, 0xbf] as const;
const NONE = new Uint8Array(0);

/** A line that is not blank, or the note that one was too long to hold. */
export type DatasetLine =
  | {
      lineNumber: number;
      /** Where `bytes` begins in the stream. */
      offset: number;
      bytes: Uint8Array;
    }
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
  for await (const chunk of stream) {
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
  const last = pending.finish(NONE);
  if (last !== undefined) yield last;
}

/** The line that has begun and not ended. */
function createPendingLine(maxLineBytes: number) {
  let parts: Uint8Array[] = [];
  let length = 0;
  let lineNumber = 0;
  /** Where the next line begins. */
  let next = 0;
  return {
    add(part: Uint8Array): void {
      length += part.length;
      if (length > maxLineBytes + BOM.length + 1) parts = [];
      else if (part.length > 0) parts.push(part);
    },
    finish(part: Uint8Array): DatasetLine | undefined {
      lineNumber += 1;
      this.add(part);
      const wholeLength = length;
      const begin = next;
      next += wholeLength + 1;
      const whole = joinBytes(parts);
      parts = [];
      length = 0;
      if (whole.length < wholeLength) return { lineNumber, tooLongBytes: wholeLength };
      const start = lineNumber === 1 && startsWithMark(whole) ? BOM.length : 0;
      const bytes = whole.subarray(start, Math.max(start, endOf(whole)));
      if (bytes.length > maxLineBytes) return { lineNumber, tooLongBytes: wholeLength };
      return isBlank(bytes) ? undefined : { lineNumber, offset: begin + start, bytes };
    },
  };
}

function startsWithMark(line: Uint8Array): boolean {
  return BOM.every((byte, at) => line[at] === byte);
}

function endOf(line: Uint8Array): number {
  return line.at(-1) === CR ? line.length - 1 : line.length;
}

function isBlank(line: Uint8Array): boolean {
  for (const byte of line) {
    if (byte !== 0x20 && byte !== 0x09 && byte !== CR) return false;
  }
  return true;
}
