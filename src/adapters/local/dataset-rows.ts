import { createReadStream } from 'node:fs';
import { DatasetError } from '../../core/dataset/dataset-error.ts';
import { datasetLineRow } from '../../core/dataset/dataset-line-row.ts';
import { datasetLines } from '../../core/dataset/dataset-lines.ts';
import type { DatasetRow } from '../../core/dataset/dataset-row.ts';
import { storageError } from './storage-error.ts';

const CHUNK_BYTES = 256 * 1024;

/**
 * The rows of a snapshot made by `snapshotDataset`, `index` being the prompt_index. Streams:
 * holds one row and one chunk. Throws `DatasetError` for a line that a snapshot can't hold, and
 * `StorageError`.
 */
export async function* readSnapshotRows(
  path: string,
): AsyncGenerator<{ index: number; row: DatasetRow }, void, undefined> {
  // A snapshot's lines were within their limit when it was written.
  const options = { maxLineBytes: Number.POSITIVE_INFINITY };
  const chunks = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  let index = 0;
  try {
    for await (const line of datasetLines(chunks, options)) {
      const result = datasetLineRow(line);
      if (!result.ok) throw new DatasetError(path, line.lineNumber, result.reason);
      yield { index, row: result.row };
      index += 1;
    }
  } catch (error) {
    throw storageError(path, error);
  }
}
