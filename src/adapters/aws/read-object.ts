import { GetObjectCommand, type GetObjectCommandOutput } from '@aws-sdk/client-s3';
import type { Bucket } from './bucket.ts';
import { StoredObjectError } from './stored-object-error.ts';

/**
 * A body is read in ranges, each whole and anew where its connection breaks: one slow stream over
 * minutes is cut by S3, and the SDK does not try bodies again.
 */
const RANGE_BYTES = 8 * 1024 ** 2;
const TRIES = 4;

/** The bytes of a whole object. Throws `StoredObjectError` where there is none. */
export async function objectBytes(bucket: Bucket, key: string): Promise<Buffer> {
  return (await read(bucket, key)).bytes;
}

/** `length` bytes at `start`. Throws `StoredObjectError` where they are not there. */
export async function objectRange(
  bucket: Bucket,
  key: string,
  start: number,
  length: number,
): Promise<Buffer> {
  const bytes = await readWithin(bucket, key, rangeOf(start, length));
  if (bytes?.length === length) return bytes;
  throw new StoredObjectError(
    key,
    `expected ${length} bytes at byte ${start}, got ${bytes?.length ?? 0}`,
  );
}

/** Undefined where the object ends before the range. */
async function readWithin(bucket: Bucket, key: string, range: string): Promise<Buffer | undefined> {
  try {
    return (await read(bucket, key, { Range: range })).bytes;
  } catch (error) {
    if (error instanceof Error && error.name === 'InvalidRange') return undefined;
    throw error;
  }
}

export interface ReadFrom {
  /** The first byte that is read. */
  start?: number;
  /** Only of this version. */
  etag?: string;
}

/**
 * An object in chunks of up to 8 MiB, the next one asked for while one is used. All are of one
 * version: throws `StoredObjectError` where it is replaced meanwhile, or missing.
 */
export async function* objectChunks(
  bucket: Bucket,
  key: string,
  { start: from = 0, etag: only }: ReadFrom = {},
): AsyncGenerator<Buffer, void, undefined> {
  const first = await readFirst(bucket, key, from, only);
  if (first === undefined) return;
  yield first.bytes;
  const { etag, size } = first;
  const starts: number[] = [];
  for (let at = from + first.bytes.length; at < size; at += RANGE_BYTES) starts.push(at);
  const ask = (start: number) => {
    const length = Math.min(RANGE_BYTES, size - start);
    const asked = read(bucket, key, { Range: rangeOf(start, length), IfMatch: etag });
    // Waited for later: until then nobody else listens.
    asked.catch(() => undefined);
    return asked;
  };
  let next = starts[0] === undefined ? undefined : ask(starts[0]);
  for (const [index] of starts.entries()) {
    const current = await next;
    const after = starts[index + 1];
    next = after === undefined ? undefined : ask(after);
    if (current !== undefined) yield current.bytes;
  }
}

async function readFirst(bucket: Bucket, key: string, from: number, etag: string | undefined) {
  const only = etag === undefined ? {} : { IfMatch: etag };
  try {
    return await read(bucket, key, { Range: rangeOf(from, RANGE_BYTES), ...only });
  } catch (error) {
    // An empty object has no first byte.
    if (error instanceof Error && error.name === 'InvalidRange') return undefined;
    throw error;
  }
}

function rangeOf(start: number, length: number): string {
  return `bytes=${start}-${start + length - 1}`;
}

interface Got {
  bytes: Buffer;
  etag: string;
  /** Of the whole object. */
  size: number;
}

async function read(
  bucket: Bucket,
  key: string,
  of: { Range?: string; IfMatch?: string } = {},
): Promise<Got> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send(bucket, key, of);
    try {
      const bytes = Buffer.from((await answer.Body?.transformToByteArray()) ?? []);
      if (answer.ContentLength !== undefined && bytes.length !== answer.ContentLength) {
        throw new Error(`${key}: got ${bytes.length} bytes of ${answer.ContentLength}`);
      }
      return { bytes, etag: answer.ETag ?? '', size: sizeOf(answer, bytes.length) };
    } catch (error) {
      if (attempt === TRIES) throw error;
    }
  }
}

async function send(bucket: Bucket, key: string, of: object): Promise<GetObjectCommandOutput> {
  try {
    return await bucket.client.send(new GetObjectCommand({ Bucket: bucket.name, Key: key, ...of }));
  } catch (cause) {
    const problem = PROBLEMS[(cause as Error).name];
    throw problem === undefined ? cause : new StoredObjectError(key, problem, { cause });
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  NoSuchKey: 'there is no such object',
  PreconditionFailed: 'it was replaced while it was read',
};

function sizeOf({ ContentRange: range }: GetObjectCommandOutput, length: number): number {
  const size = Number(range?.split('/')[1]);
  return Number.isSafeInteger(size) ? size : length;
}
