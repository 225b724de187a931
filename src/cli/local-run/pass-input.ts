import { rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../adapters/local/append-log.ts';
import { readSnapshotRows } from '../../adapters/local/dataset-rows.ts';
import { type DatasetSnapshot, snapshotDataset } from '../../adapters/local/dataset-snapshot.ts';
import type { RunFolder } from '../../adapters/local/run-folder.ts';
import { storing } from '../../adapters/local/storage-error.ts';
import { stagingFolder } from '../../adapters/local/sweep-leftovers.ts';
import type { PassRecord } from '../../core/run/manifest.ts';
import { sandboxCwdProblem } from '../../core/work/process-cwd.ts';
import { UsageError } from '../usage-error.ts';
import { makeFolders } from './make-folders.ts';

/** The dataset of a pass, read once and kept beside the run until the run takes it. */
export interface StagedInput extends DatasetSnapshot {
  path: string;
  /** Rows that run in a container. */
  inContainers: number;
  /** Never throws. */
  discard(): Promise<void>;
}

export interface StageRequest {
  source: string;
  outputDir: string;
  runName: string;
  pid: number;
  stdin: AsyncIterable<Uint8Array>;
  strict: boolean;
  sandboxes: RowSandboxes;
}

/** What becomes of rows, by their image. */
export interface RowSandboxes {
  /** Whether a row with this image, or "", runs in a container. */
  isContainer(image: string): boolean;
  /** Makes ready for so many rows in containers. Throws `UsageError` where there can be none. */
  ready(rows: ContainerRows): Promise<void>;
}

export interface ContainerRows {
  count: number;
  /** Those of them that name no image. */
  withoutImage: number;
  /** Those that the others name, in dataset order. */
  images: ReadonlySet<string>;
}

/**
 * Reads the dataset into a folder beside the run's, so that a dataset with nothing valid leaves no
 * run folder. Throws `DatasetError`; with `strict` a `UsageError` for any bad line.
 */
export async function stageInput(request: StageRequest): Promise<StagedInput> {
  const folder = stagingFolder(request.outputDir, request.runName, request.pid);
  const made = await makeFolders(folder).catch((error) => refuseOutputDir(request, error));
  const discard = async () => {
    // What stays is swept by the next pass; the fault that led here is what counts.
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    // Only while they are empty: another run may have begun in them meanwhile.
    for (const above of made.reverse()) await rmdir(above).catch(() => undefined);
  };
  const path = join(folder, 'input.jsonl');
  try {
    const { source, stdin } = request;
    const snapshot = await snapshotDataset({ source, target: path, stdin });
    const [first] = snapshot.invalid;
    if (request.strict && first !== undefined) {
      throw new UsageError(
        `--strict: the dataset has ${snapshot.invalidCount} bad lines, the first is line ${first.line}: ${first.reason}`,
      );
    }
    const inContainers = await checkRows(path, request.sandboxes);
    return { ...snapshot, path, inContainers, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

function refuseOutputDir({ outputDir }: StageRequest, error: Error): never {
  throw new UsageError(
    `--output_dir: expected a folder to write into, got ${outputDir}: ${error.message}`,
    { cause: error },
  );
}

/**
 * What a row asks for must be known to work before anything is paid for. Resolves to how many rows
 * run in containers.
 */
async function checkRows(path: string, { isContainer, ready }: RowSandboxes): Promise<number> {
  let count = 0;
  let withoutImage = 0;
  const images = new Set<string>();
  for await (const { index, row } of readSnapshotRows(path)) {
    if (isContainer(row.image)) {
      count += 1;
      if (row.image === '') withoutImage += 1;
      else images.add(row.image);
      continue;
    }
    const problem = row.cwd === '' ? undefined : sandboxCwdProblem(row.cwd);
    if (problem !== undefined) throw new UsageError(`prompt ${index}: cwd: ${problem}`);
  }
  if (count > 0) await ready({ count, withoutImage, images });
  return count;
}

/** Moves the input into the run, unless the last pass had the very same. Gives the input's pass. */
export async function settleInput(
  staged: StagedInput,
  folder: RunFolder,
  pass: number,
  last: PassRecord | undefined,
): Promise<number> {
  try {
    if (last?.dataset_sha256 === staged.sha256) return last.input_of_pass;
    const target = folder.input(pass);
    await storing(target, async () => {
      await makeFolders(dirname(target));
      await rename(staged.path, target);
    });
    // `run.json` will name this input: it must not be there without it.
    await syncFolder(dirname(target));
    await syncFolder(dirname(dirname(target)));
    return pass;
  } finally {
    await staged.discard();
  }
}
