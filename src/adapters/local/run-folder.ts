import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BatchKind } from '../../core/run/batch-kind.ts';

/** The paths of a run's files (design §4). */
export interface RunFolder {
  readonly path: string;
  readonly ledger: string;
  readonly manifest: string;
  readonly privateFile: string;
  readonly lock: string;
  openBatch(batch: number): string;
  batch(kind: BatchKind, batch: number): string;
  /** The dataset of a pass as it was planned. */
  input(pass: number): string;
  file(name: string): string;
}

export function runFolder(outputDir: string, runName: string): RunFolder {
  const path = join(outputDir, runName);
  return {
    path,
    ledger: join(path, 'ledger.jsonl'),
    manifest: join(path, 'run.json'),
    privateFile: join(path, 'private.json'),
    lock: join(path, '.lock'),
    openBatch: (batch) => join(path, `batch_${batch}.open.jsonl`),
    batch: (kind, batch) => join(path, `${kind}_${batch}.jsonl`),
    input: (pass) => join(path, 'passes', String(pass), 'input.jsonl'),
    file: (name) => join(path, name),
  };
}

export interface BatchNumbers {
  /** Batches with an open file: their process ended before it could close them. */
  open: number[];
  /** The highest number of any file, -1 without files. */
  highest: number;
  /** The highest number of a closed batch's file, -1 without. */
  highestClosed: number;
}

/** Which batch numbers the folder's files use. */
export async function batchNumbers(folder: RunFolder): Promise<BatchNumbers> {
  const found: BatchNumbers = { open: [], highest: -1, highestClosed: -1 };
  for (const name of await readdir(folder.path)) {
    const match = /^(?:batch|discarded|failed)_(\d+)(\.open)?\.jsonl$/.exec(name);
    if (match === null) continue;
    const number = Number(match[1]);
    found.highest = Math.max(found.highest, number);
    if (match[2] !== undefined) found.open.push(number);
    else found.highestClosed = Math.max(found.highestClosed, number);
  }
  found.open.sort((a, b) => a - b);
  return found;
}
