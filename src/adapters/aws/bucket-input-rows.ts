import { datasetLineRow } from '../../core/dataset/dataset-line-row.ts';
import { datasetLines } from '../../core/dataset/dataset-lines.ts';
import type { IndexedRow } from '../../core/run/plan-batches.ts';
import type { Bucket } from './bucket.ts';
import { objectChunks } from './read-object.ts';
import { StoredObjectError } from './stored-object-error.ts';

/** The rows of a pass's `input.jsonl`. Throws `StoredObjectError` for a line that is none. */
export async function* bucketInputRows(
  bucket: Bucket,
  key: string,
): AsyncGenerator<IndexedRow, void, undefined> {
  // Its lines were within their limit when it was written.
  const options = { maxLineBytes: Number.POSITIVE_INFINITY };
  let index = 0;
  for await (const line of datasetLines(objectChunks(bucket, key), options)) {
    const result = datasetLineRow(line);
    if (!result.ok) throw new StoredObjectError(key, `line ${line.lineNumber}: ${result.reason}`);
    yield { index, row: result.row };
    index += 1;
  }
}
