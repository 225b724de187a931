import { createReadStream } from 'node:fs';
import { DatasetError } from '../../core/dataset/dataset-error.ts';
import { gzipProblem } from '../../core/dataset/gzip-problem.ts';
import { unpacked } from '../../core/dataset/unpacked.ts';
import { gunzip } from './gunzip.ts';

const CHUNK_BYTES = 256 * 1024;

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
export async function* datasetBytes({ source, stdin }: DatasetSource): AsyncGenerator<Uint8Array> {
  const raw = source === '-' ? stdin : createReadStream(source, { highWaterMark: CHUNK_BYTES });
  try {
    yield* unpacked(raw, gunzip);
  } catch (error) {
    throw asDatasetError(error, datasetName(source));
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
  const message = error instanceof Error ? error.message : String(error);
  return gzipProblem(error) ?? `expected a file that can be read, got ${message}`;
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
