/** One message: JSON, and bytes beside it that would only grow inside it. */
export interface Frame {
  json: string;
  bytes: Uint8Array;
}

/** The other side sent what the protocol does not allow. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

const HEADER = 8;
/** A command of some megabytes, escaped, or the matches of a large search. */
export const MAX_JSON = 32 * 1024 * 1024;
export const MAX_BYTES = 64 * 1024 * 1024;
/** Bytes beside a message that are copied behind it: one write wakes the other side once. */
const COPIED_BYTES = 64 * 1024;

/** Two lengths of 32 bits, the JSON as UTF-8, the bytes. Throws `RangeError` for one too long. */
export function encodeFrame({ json, bytes }: Frame): Buffer[] {
  const text = Buffer.from(json);
  assertLengths(text.length, bytes.length, RangeError);
  const header = Buffer.alloc(HEADER);
  header.writeUInt32BE(text.length, 0);
  header.writeUInt32BE(bytes.length, 4);
  if (bytes.length <= COPIED_BYTES) return [Buffer.concat([header, text, bytes])];
  return [Buffer.concat([header, text]), Buffer.from(bytes)];
}

/**
 * Takes a stream apart into frames, however it was cut into chunks. The returned function throws
 * `ProtocolError` at a frame that is too long, before anything of it is kept.
 */
export function createFrameReader(onFrame: (frame: Frame) => void): (chunk: Uint8Array) => void {
  let chunks: Buffer[] = [];
  let length = 0;
  let wanted = HEADER;
  let lengths: { json: number; bytes: number } | undefined;

  function take(): Buffer {
    const all = chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
    const rest = all.subarray(wanted);
    chunks = rest.length > 0 ? [rest] : [];
    length = rest.length;
    return all.subarray(0, wanted);
  }

  return (chunk) => {
    chunks.push(Buffer.from(chunk));
    length += chunk.length;
    while (length >= wanted) {
      const part = take();
      if (lengths === undefined) {
        lengths = { json: part.readUInt32BE(0), bytes: part.readUInt32BE(4) };
        assertLengths(lengths.json, lengths.bytes, ProtocolError);
        wanted = lengths.json + lengths.bytes;
      } else {
        const json = part.toString('utf8', 0, lengths.json);
        // A copy: what is handed on must not keep the whole chunk alive.
        const bytes = Uint8Array.from(part.subarray(lengths.json));
        lengths = undefined;
        wanted = HEADER;
        onFrame({ json, bytes });
      }
    }
  };
}

function assertLengths(json: number, bytes: number, Kind: new (message: string) => Error): void {
  if (json <= MAX_JSON && bytes <= MAX_BYTES) return;
  throw new Kind(
    `a message of ${json} and ${bytes} bytes, expected at most ${MAX_JSON} and ${MAX_BYTES}`,
  );
}
