import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { datasetLineRow } from '../../core/dataset/dataset-line-row.ts';
import { datasetLines } from '../../core/dataset/dataset-lines.ts';
import { createInvalidLines, type InvalidLine } from '../../core/dataset/invalid-lines.ts';
import { datasetBytes, datasetName } from './dataset-bytes.ts';
import { storageError, storing } from './storage-error.ts';

const FLUSH_BYTES = 1024 * 1024;
const LF = Buffer.from('\n');

export interface SnapshotRequest {
  /** The dataset's path, or `-` for standard input. */
  source: string;
  /** Path of the snapshot; its folder must be there. Replaced if it is there. */
  target: string;
  stdin: AsyncIterable<Uint8Array>;
  /** Called after every mebibyte of rows. */
  onProgress?: (progress: { rows: number; invalidCount: number }) => void;
  /** Stop after this many valid rows. */
  maxRows?: number;
  /** Longest line taken, in bytes; longer ones are bad. Default 256 MiB. */
  maxLineBytes?: number;
}

export interface DatasetSnapshot {
  /** Of the snapshot's bytes, hex. */
  sha256: string;
  bytes: number;
  /** Valid rows: the lines of the snapshot. At least 1. */
  rows: number;
  invalidCount: number;
  /** The first 20 bad lines, by their number in the dataset. */
  invalid: readonly InvalidLine[];
}

/**
 * Copies the dataset's valid rows, each one line, to `target`, so that line k (from 0) is
 * prompt_index k whatever becomes of the dataset meanwhile. Reads once, in constant memory. On
 * return the snapshot is durable; on a throw there is none. Throws `DatasetError` where the
 * dataset can't be read or has no valid row, and `StorageError` about `target`.
 */
export async function snapshotDataset(request: SnapshotRequest): Promise<DatasetSnapshot> {
  const partial = `${request.target}.part`;
  const file = await storing(partial, () => open(partial, 'w'));
  try {
    const snapshot = await copyRows(request, file);
    await file.datasync();
    await file.close();
    await rename(partial, request.target);
    return snapshot;
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(partial, { force: true }).catch(() => undefined);
    throw storageError(request.target, error);
  }
}

async function copyRows(request: SnapshotRequest, file: FileHandle): Promise<DatasetSnapshot> {
  const { source, maxRows = Number.POSITIVE_INFINITY, maxLineBytes, onProgress } = request;
  const writer = createHashingWriter(file);
  const bad = createInvalidLines();
  const limit = maxLineBytes === undefined ? {} : { maxLineBytes };
  for await (const line of datasetLines(datasetBytes(request), limit)) {
    const result = datasetLineRow(line);
    if (!result.ok) bad.add(line.lineNumber, result.reason);
    else if ('bytes' in line) writer.add(line.bytes);
    // Awaiting every line would cost more than parsing it.
    if (writer.isFull()) {
      await writer.flush();
      onProgress?.({ rows: writer.lines(), invalidCount: bad.count() });
    }
    if (writer.lines() >= maxRows) break;
  }
  if (writer.lines() === 0) throw bad.noRows(datasetName(source));
  await writer.flush();
  return { ...writer.result(), invalidCount: bad.count(), invalid: bad.listed };
}

/** Collects lines and writes them by the mebibyte. */
function createHashingWriter(file: FileHandle) {
  const hash = createHash('sha256');
  let parts: Uint8Array[] = [];
  let waiting = 0;
  let bytes = 0;
  let rows = 0;
  return {
    lines: () => rows,
    add(line: Uint8Array): void {
      rows += 1;
      parts.push(line, LF);
      waiting += line.length + LF.length;
    },
    isFull: () => waiting >= FLUSH_BYTES,
    async flush(): Promise<void> {
      const block = Buffer.concat(parts);
      parts = [];
      waiting = 0;
      bytes += block.length;
      hash.update(block);
      await file.writeFile(block);
    },
    result: () => ({ sha256: hash.digest('hex'), bytes, rows }),
  };
}
