import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Bucket } from '../../adapters/aws/bucket.ts';
import type { ListedObject } from '../../adapters/aws/list-objects.ts';

/** Below this a download that was cut off begins anew. */
const RESUMED_FROM_BYTES = 8 * 1024 ** 2;

/** Whether the file is that very object, from an earlier download. */
export async function isFetched(path: string, { size, modified }: ListedObject): Promise<boolean> {
  const there = await stat(path).catch(() => undefined);
  // File systems round.
  return there?.size === size && Math.abs(there.mtimeMs - modified.getTime()) < 2;
}

/**
 * Writes an object to a file, which is replaced whole; a large one goes on where an earlier
 * download was cut off. The file's time is the object's, which says later that it is the same.
 */
export async function fetchObject(
  bucket: Bucket,
  object: ListedObject,
  path: string,
  onBytes: (count: number) => void,
): Promise<void> {
  const { objectChunks } = await import('../../adapters/aws/read-object.ts');
  const { key, size, etag, modified } = object;
  await mkdir(dirname(path), { recursive: true });
  const beside = `${path}.${etag.replaceAll(/[^0-9A-Za-z-]/g, '')}.part`;
  const start = size < RESUMED_FROM_BYTES ? 0 : await bytesThere(beside, size);
  onBytes(start);
  const file = await open(beside, start === 0 ? 'w' : 'a');
  let written = start;
  try {
    if (start < size) {
      for await (const chunk of objectChunks(bucket, key, { start, etag })) {
        await file.appendFile(chunk);
        written += chunk.length;
        onBytes(chunk.length);
      }
    }
    await file.datasync();
  } finally {
    await file.close();
  }
  if (written !== size) {
    await rm(beside, { force: true });
    throw new Error(`${key}: expected ${size} bytes, got ${written}`);
  }
  await utimes(beside, modified, modified);
  await rename(beside, path);
  if (size >= RESUMED_FROM_BYTES) await dropPieces(path);
}

/** What was fetched of versions that have been replaced since. */
async function dropPieces(path: string): Promise<void> {
  const folder = dirname(path);
  const start = `${basename(path)}.`;
  const names = await readdir(folder);
  const pieces = names.filter((name) => name.startsWith(start) && name.endsWith('.part'));
  await Promise.all(pieces.map((name) => rm(join(folder, name), { force: true })));
}

async function bytesThere(path: string, most: number): Promise<number> {
  const there = await stat(path).catch(() => undefined);
  return there === undefined || there.size > most ? 0 : there.size;
}
