import { Buffer } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { DatasetError } from './dataset-error.ts';

const CHUNK_BYTES = 256 * 1024;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

export interface DatasetSource {
  /** A path, or `-` for standard input. */
  source: string;
  /** Read only where `source` is `-`. */
  stdin: AsyncIterable<Uint8Array>;
}

/** What messages call the dataset. */
export function datasetName(source: string): string {
  return source === '-' ? 'standard input' : source;
}

/**
 * The dataset's bytes, unpacked where its first two bytes are those of gzip, whatever its name.
 * Throws `DatasetError`, also in the middle, where the file can't be read or the gzip is broken.
 */
export async function* datasetBytes({ source, stdin }: DatasetSource): AsyncGenerator<Buffer> {
  const raw = source === '-' ? stdin : createReadStream(source, { highWaterMark: CHUNK_BYTES });
  try {
    yield* unpacked(asBuffers(raw));
  } catch (error) {
    throw asDatasetError(error, datasetName(source));
  }
}

async function* asBuffers(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const part of stream) yield Buffer.from(part.buffer, part.byteOffset, part.byteLength);
}

async function* unpacked(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const head = await firstBytes(chunks, GZIP_MAGIC.length);
  const whole = rejoined(head, chunks);
  if (head.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) yield* gunzipped(whole);
  else yield* whole;
}

async function firstBytes(chunks: AsyncGenerator<Buffer>, count: number): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < count) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  return head;
}

async function* rejoined(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* rest;
}

async function* gunzipped(packed: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // Its failure also ends the loop below, which is where it is thrown.
  const pumping = pipeline(Readable.from(packed), gunzip).catch(() => undefined);
  try {
    for await (const chunk of gunzip) yield chunk;
  } finally {
    gunzip.destroy();
    await pumping;
  }
}

function asDatasetError(error: unknown, file: string): DatasetError {
  const code = errorCode(error);
  return new DatasetError(file, 0, problemOf(code, error), { cause: error });
}

function problemOf(code: string, error: unknown): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'expected a dataset file, found none';
  if (code === 'EISDIR') return 'expected a dataset file, got a folder';
  if (code === 'EACCES' || code === 'EPERM') {
    return `expected a file that this user may read, got ${code}`;
  }
  if (code === 'Z_BUF_ERROR') return 'expected a whole gzip file, got one that ends early';
  const message = error instanceof Error ? error.message : String(error);
  if (code.startsWith('Z_')) return `expected a gzip file, got a damaged one (${message})`;
  return `expected a file that can be read, got ${message}`;
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
