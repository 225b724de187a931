import { datasetBytes, datasetName } from '../../adapters/local/dataset-bytes.ts';
import { datasetLineRow } from '../../core/dataset/dataset-line-row.ts';
import { datasetLines } from '../../core/dataset/dataset-lines.ts';
import { createInvalidLines, type InvalidLine } from '../../core/dataset/invalid-lines.ts';
import { UsageError } from '../usage-error.ts';

/** What a dataset holds, before anything is sent. */
export interface InspectedDataset {
  rows: number;
  withoutImage: number;
  /** Names of images. */
  images: number;
  invalidCount: number;
  invalid: readonly InvalidLine[];
}

/**
 * Reads a dataset as the cloud will. Throws `DatasetError` where there is no valid row or no file;
 * with `strict` a `UsageError` for any bad line. Memory: the names of the images.
 */
export async function inspectDataset(
  path: string,
  { strict, shownAs = path }: { strict: boolean; shownAs?: string },
): Promise<InspectedDataset> {
  const images = new Set<string>();
  const bad = createInvalidLines();
  const counts = { rows: 0, withoutImage: 0 };
  for await (const line of datasetLines(datasetBytes({ source: path, stdin: NOTHING }))) {
    const result = datasetLineRow(line);
    if (!result.ok) {
      bad.add(line.lineNumber, result.reason);
      continue;
    }
    counts.rows += 1;
    if (result.row.image === '') counts.withoutImage += 1;
    else images.add(result.row.image);
  }
  if (counts.rows === 0) throw bad.noRows(datasetName(shownAs));
  const [first] = bad.listed;
  if (strict && first !== undefined) {
    throw new UsageError(
      `--strict: the dataset has ${bad.count()} bad lines, the first is line ${first.line}: ${first.reason}`,
    );
  }
  return { ...counts, images: images.size, invalidCount: bad.count(), invalid: bad.listed };
}

const NOTHING: AsyncIterable<Uint8Array> = (async function* () {})();
