import { isUtf8 } from 'node:buffer';
import { type DatasetRowResult, parseDatasetRow } from '../../core/dataset/dataset-row.ts';
import type { DatasetLine } from './dataset-lines.ts';

/** The row of a line; a line that is too long or not UTF-8 is bad, the rest of the file is not. */
export function datasetLineRow(line: DatasetLine): DatasetRowResult {
  if ('tooLongBytes' in line) {
    return { ok: false, reason: `expected a shorter line, got one of ${line.tooLongBytes} bytes` };
  }
  if (!isUtf8(line.bytes)) {
    return { ok: false, reason: 'expected UTF-8 text, got bytes that are not' };
  }
  return parseDatasetRow(line.bytes.toString('utf8'));
}
