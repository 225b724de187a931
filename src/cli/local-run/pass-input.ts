import { rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../adapters/local/append-log.ts';
import { type DatasetSnapshot, snapshotDataset } from '../../adapters/local/dataset-snapshot.ts';
import type { RunFolder } from '../../adapters/local/run-folder.ts';
import { storing } from '../../adapters/local/storage-error.ts';
import { stagingFolder } from '../../adapters/local/sweep-leftovers.ts';
import { makeFolders } from '../../adapters/sandbox/executor/make-folders.ts';
import type { PassRecord } from '../../core/run/manifest.ts';
import { UsageError } from '../usage-error.ts';
import { checkRows, type OwedRows, type RowSandboxes } from './check-rows.ts';

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
  owed: OwedRows;
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
    const inContainers = await checkRows(path, request);
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
