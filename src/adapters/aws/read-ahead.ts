import { atOnce } from './at-once.ts';
import type { Bucket } from './bucket.ts';
import { objectBytes, objectChunks } from './read-object.ts';

const READS_AT_ONCE = 16;
/** Objects that are held at once: of one window. */
export const WINDOW_BYTES = 64 * 1024 ** 2;
export const WINDOW_OBJECTS = 256;

/** An object that is to be read, of so many bytes. */
export interface Sized {
  key: string;
  size: number;
}

/**
 * Objects in their order, small ones many at a time: a hundred thousand of them one by one would
 * take an hour. One that is too large for that comes as a stream.
 */
export async function* readAhead<T extends Sized>(
  bucket: Bucket,
  sources: readonly T[],
): AsyncGenerator<{ source: T; chunks: AsyncIterable<Buffer> }, void, undefined> {
  for (const window of windowsOf(sources)) {
    const [only] = window;
    if (only !== undefined && window.length === 1) {
      yield { source: only, chunks: objectChunks(bucket, only.key) };
      continue;
    }
    const bodies = await atOnce(window, READS_AT_ONCE, ({ key }) => objectBytes(bucket, key));
    for (const [index, source] of window.entries()) {
      yield { source, chunks: one(bodies[index]) };
    }
  }
}

async function* one(chunk: Buffer | undefined): AsyncGenerator<Buffer> {
  if (chunk !== undefined) yield chunk;
}

/** Sources in their order, in windows that are read at once. */
export function windowsOf<T extends Sized>(sources: readonly T[]): T[][] {
  const windows: T[][] = [];
  let window: T[] = [];
  let bytes = 0;
  for (const source of sources) {
    const isFull = window.length >= WINDOW_OBJECTS || bytes + source.size > WINDOW_BYTES;
    if (isFull && window.length > 0) {
      windows.push(window);
      window = [];
      bytes = 0;
    }
    window.push(source);
    bytes += source.size;
  }
  if (window.length > 0) windows.push(window);
  return windows;
}
