import type { DatasetLine } from './dataset-lines.ts';
import { type DatasetRowResult, parseDatasetRow } from './dataset-row.ts';

/** A mark at the start of a line but the first is text, and a bad row. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The row of a line; a line that is too long or not UTF-8 is bad, the rest of the file is not. */
export function datasetLineRow(line: DatasetLine): DatasetRowResult {
  if ('tooLongBytes' in line) {
    return { ok: false, reason: `expected a shorter line, got one of ${line.tooLongBytes} bytes` };
  }
  const text = decoded(line.bytes);
  if (text === undefined) {
    return { ok: false, reason: 'expected UTF-8 text, got bytes that are not' };
  }
  return parseDatasetRow(text);
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}
