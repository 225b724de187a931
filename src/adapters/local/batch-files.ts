import { type FileHandle, open, rename, rm, unlink } from 'node:fs/promises';
import { type BatchKind, batchKind } from '../../core/run/batch-kind.ts';
import type { Outcome } from '../../core/trajectory/outcome.ts';
import type { Trajectory } from '../../core/trajectory/trajectory.ts';
import { type Place, syncFolder } from './append-log.ts';
import type { RunFolder } from './run-folder.ts';
import { storageError, storing } from './storage-error.ts';

/** A row of an open batch: where it stands, and what decides its place in the final files. */
export interface PlacedRow extends Place {
  outcome: Outcome;
  promptIndex: number;
  sample: number;
  attempt: number;
}

export function placedRow(row: Trajectory, place: Place): PlacedRow {
  return {
    ...place,
    outcome: row.outcome,
    promptIndex: row.prompt_index,
    sample: row.metadata.sample,
    attempt: row.timing.attempt,
  };
}

/**
 * Ends an open batch: its rows go to the final files in plan order, each file by rename. The open
 * file goes last, so that a crash at any point leaves either it, from which all can be made again,
 * or all final files.
 */
export async function closeBatchFiles(
  folder: RunFolder,
  batch: number,
  rows: readonly PlacedRow[],
): Promise<void> {
  const source = folder.openBatch(batch);
  const ordered = [...rows].sort(inPlanOrder);
  const kinds = new Set(ordered.map((row) => batchKind(row.outcome)));
  const [only] = kinds;
  if (only !== undefined && kinds.size === 1 && ordered.every(followsOn)) {
    await storing(source, () => rename(source, folder.batch(only, batch)));
  } else {
    await storing(source, () => split(folder, batch, ordered, kinds));
    await storing(source, () => unlink(source));
  }
  await syncFolder(folder.path);
}

function inPlanOrder(a: PlacedRow, b: PlacedRow): number {
  return a.promptIndex - b.promptIndex || a.sample - b.sample || a.attempt - b.attempt;
}

/** Whether the row stands right behind the one before it: the open file is in plan order then. */
function followsOn(row: PlacedRow, index: number, all: readonly PlacedRow[]): boolean {
  const before = all[index - 1];
  return row.offset === (before === undefined ? 0 : before.offset + before.length);
}

async function split(
  folder: RunFolder,
  batch: number,
  ordered: readonly PlacedRow[],
  kinds: ReadonlySet<BatchKind>,
): Promise<void> {
  const from = await open(folder.openBatch(batch), 'r');
  try {
    for (const kind of kinds) {
      const rows = ordered.filter((row) => batchKind(row.outcome) === kind);
      await copyRows(from, rows, folder.batch(kind, batch));
    }
  } finally {
    await from.close();
  }
  await syncFolder(folder.path);
}

async function copyRows(from: FileHandle, rows: readonly PlacedRow[], path: string) {
  const beside = `${path}.tmp`;
  try {
    const to = await open(beside, 'w');
    try {
      for (const { offset, length } of rows) {
        const bytes = Buffer.allocUnsafe(length);
        await readExactly(from, bytes, offset);
        await to.appendFile(bytes);
      }
      await to.datasync();
    } finally {
      await to.close();
    }
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined);
    throw storageError(path, error);
  }
}

async function readExactly(from: FileHandle, bytes: Buffer, offset: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await from.read(bytes, done, bytes.length - done, offset + done);
    if (bytesRead === 0) throw new Error('an open batch file is shorter than its rows');
    done += bytesRead;
  }
}
