import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DatasetError } from '../../core/dataset/dataset-error.ts';

const CHUNK_BYTES = 1024 * 1024;

/** A dataset that can be read twice: once to be checked, once to be sent. */
export interface DatasetSource {
  path: string;
  /** Its name in the bucket, of which the end says what it is. */
  uploadName: string;
  bytes: number;
  chunks(): AsyncIterable<Uint8Array>;
  /** Removes what was made. Never throws. */
  discard(): Promise<void>;
}

/** Opens the dataset of a path; `-`, standard input, is kept in a file meanwhile. */
export async function openDatasetSource(
  path: string,
  stdin: NodeJS.ReadableStream,
): Promise<DatasetSource> {
  if (path !== '-') return await sourceOf(path, basename(path), async () => undefined);
  const folder = await mkdtemp(join(tmpdir(), 'talaria-submit-'));
  const discard = () => rm(folder, { recursive: true, force: true }).catch(() => undefined);
  try {
    const copy = join(folder, 'prompts.jsonl');
    await pipeline(Readable.from(stdin), createWriteStream(copy, { mode: 0o600 }));
    return await sourceOf(copy, 'prompts.jsonl', discard);
  } catch (error) {
    await discard();
    throw error;
  }
}

async function sourceOf(
  path: string,
  name: string,
  discard: () => Promise<void>,
): Promise<DatasetSource> {
  const { bytes, isGzip } = await look(path);
  return {
    path,
    uploadName: uploadNameOf(name, isGzip),
    bytes,
    chunks: () => createReadStream(path, { highWaterMark: CHUNK_BYTES }),
    discard,
  };
}

/** Uploads under other names start nothing. */
function uploadNameOf(name: string, isGzip: boolean): string {
  if (/\.jsonl(\.gz)?$/.test(name)) return name;
  const stem = name.replace(/\.(json|ndjson|txt)?(\.gz)?$/i, '') || 'prompts';
  return `${stem}.jsonl${isGzip ? '.gz' : ''}`;
}

async function look(path: string): Promise<{ bytes: number; isGzip: boolean }> {
  try {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
      return { bytes: size, isGzip: buffer[0] === 0x1f && buffer[1] === 0x8b };
    } finally {
      await file.close();
    }
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, cause: unknown): DatasetError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const problem =
    code === 'ENOENT'
      ? 'expected a dataset file, found none'
      : code === 'EISDIR'
        ? 'expected a dataset file, got a folder'
        : `expected a file that can be read, got ${message}`;
  return new DatasetError(path, 0, problem, { cause });
}
