import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { syncFolder } from '../../adapters/local/append-log.ts';
import { StoredFileError } from '../../adapters/local/json-lines.ts';
import { type LocalLedger, openLocalLedger } from '../../adapters/local/local-ledger.ts';
import { type Recovery, recoverBatches } from '../../adapters/local/recover-batches.ts';
import { batchNumbers, type RunFolder } from '../../adapters/local/run-folder.ts';
import { type LockDeps, lockRun } from '../../adapters/local/run-lock.ts';
import { storageError, storing } from '../../adapters/local/storage-error.ts';
import { sweepLeftovers } from '../../adapters/local/sweep-leftovers.ts';
import { makeFolders } from '../../adapters/sandbox/executor/make-folders.ts';
import { type RunFile, runFileSchema } from '../../core/run/manifest.ts';
import { createRunState, type RunState } from '../../core/run/run-state.ts';

/** A run that this process holds, in order again whatever happened to the one before. */
export interface OpenRun {
  /** `run.json` as it is now that no other process can change it; undefined for a new run. */
  run: RunFile | undefined;
  ledger: LocalLedger;
  state: RunState;
  recovery: Recovery;
  close(): Promise<void>;
}

/** A JSON file of a run, checked; undefined where it is missing. Throws `StoredFileError`. */
export async function readStored<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw storageError(path, error);
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new StoredFileError(`${path} is not what Talaria wrote; was it edited?`, {
      cause: error,
    });
  }
}

export async function readRunFile(folder: RunFolder): Promise<RunFile | undefined> {
  return await readStored(folder.manifest, runFileSchema);
}

/**
 * Takes the run for this process, reads its ledger, and finishes what a killed process left:
 * half-made files, torn lines, rows without ledger entry, open batches. Throws `RunLockedError`,
 * `StorageError` and `StoredFileError`.
 */
export async function openRun(folder: RunFolder, lock: LockDeps): Promise<OpenRun> {
  const made = await storing(folder.path, () => makeFolders(folder.path));
  if (made.length > 0) await syncFolder(dirname(folder.path));
  const release = await lockRun(folder.lock, lock);
  try {
    await sweepLeftovers(folder, lock.processStarted);
    const run = await readRunFile(folder);
    if (run !== undefined) await refuseMissingLedger(folder);
    const ledger = await openLocalLedger(folder.ledger);
    try {
      return { run, ledger, ...(await recover(folder, ledger, run)), close };
    } catch (error) {
      await ledger.close();
      throw error;
    }

    async function close() {
      await ledger.close();
      await release();
    }
  } catch (error) {
    await release();
    throw error;
  }
}

async function recover(folder: RunFolder, ledger: LocalLedger, run: RunFile | undefined) {
  const state = createRunState();
  for await (const entry of ledger.entries()) state.add(entry);
  const { highestClosed } = await batchNumbers(folder);
  // A batch is closed when all of its entries are durable.
  if (highestClosed > state.highestBatch) {
    throw lostEntries(folder, `it has no entry of batch ${highestClosed}, which is closed`);
  }
  const pass = Math.max(1, run?.passes.length ?? 1);
  const recovery = await recoverBatches(folder, { ledger, state, pass });
  return { state, recovery };
}

/** `run.json` is written when the ledger is there. */
async function refuseMissingLedger(folder: RunFolder): Promise<void> {
  try {
    await stat(folder.ledger);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw storageError(folder.ledger, error);
    throw lostEntries(folder, 'it is missing');
  }
}

/** Going on would buy again what was bought. */
function lostEntries(folder: RunFolder, what: string): StoredFileError {
  return new StoredFileError(
    `${folder.ledger}: ${what}: without its entries what is done can't be told from what is not. Put it back from a copy; nothing was changed.`,
  );
}
