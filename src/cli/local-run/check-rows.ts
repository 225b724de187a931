import { readSnapshotRows } from '../../adapters/local/dataset-rows.ts';
import type { DatasetRow } from '../../core/dataset/dataset-row.ts';
import { createOccurrences, promptHash, promptId } from '../../core/dataset/prompt-id.ts';
import { sandboxCwdProblem } from '../../core/work/process-cwd.ts';
import { UsageError } from '../usage-error.ts';

/** What becomes of rows, by their image. */
export interface RowSandboxes {
  /** Whether a row with this image, or "", runs in a container. */
  isContainer(image: string): boolean;
  /** Makes ready for so many rows in containers. Throws `UsageError` where there can be none. */
  ready(rows: ContainerRows): Promise<void>;
}

/** Rows that a pass is to run in containers. */
export interface ContainerRows {
  count: number;
  /** Those of them that name no image. */
  withoutImage: number;
  /** Those that the others name, in dataset order. */
  images: ReadonlySet<string>;
}

/** Which rows a pass is to run: images of the others need not be there. */
export interface OwedRows {
  maxSamples: number | undefined;
  samplesPerPrompt: number;
  sha256Hex(text: string): string;
  /** Undefined for a new run, where nothing is done. */
  isDone: ((promptId: string) => boolean) | undefined;
}

/**
 * What a row asks for must be known to work before anything is paid for. Resolves to how many rows
 * run in containers, done or not.
 */
export async function checkRows(
  path: string,
  { sandboxes, owed }: { sandboxes: RowSandboxes; owed: OwedRows },
): Promise<number> {
  const rows = { count: 0, withoutImage: 0, images: new Set<string>() };
  const isOwed = owedRows(owed);
  let inContainers = 0;
  for await (const { index, row } of readSnapshotRows(path)) {
    if (!sandboxes.isContainer(row.image)) {
      checkFolder(index, row);
      continue;
    }
    inContainers += 1;
    if (!isOwed(index, row)) continue;
    rows.count += 1;
    if (row.image === '') rows.withoutImage += 1;
    else rows.images.add(row.image);
  }
  if (rows.count > 0) await sandboxes.ready(rows);
  return inContainers;
}

function checkFolder(index: number, { cwd }: DatasetRow): void {
  const problem = cwd === '' ? undefined : sandboxCwdProblem(cwd);
  if (problem !== undefined) throw new UsageError(`prompt ${index}: cwd: ${problem}`);
}

/** For rows in dataset order: of equal rows, the first ones are those that are done. */
function owedRows({ maxSamples, samplesPerPrompt, sha256Hex, isDone }: OwedRows) {
  const occurrences = createOccurrences(samplesPerPrompt);
  return (index: number, row: DatasetRow): boolean => {
    if (maxSamples !== undefined && index >= maxSamples) return false;
    if (isDone === undefined) return true;
    const hash = promptHash(row, sha256Hex);
    const first = occurrences.take(hash);
    return Array.from({ length: samplesPerPrompt }, (_, sample) => first + sample).some(
      (occurrence) => !isDone(promptId(hash, occurrence)),
    );
  };
}
