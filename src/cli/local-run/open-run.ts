import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { syncFolder } from '../../adapters/local/append-log.ts';
import { StoredFileError } from '../../adapters/local/json-lines.ts';
import { type LocalLedger, openLocalLedger } from '../../adapters/local/local-ledger.ts';
import { type Recovery, recoverBatches } from '../../adapters/local/recover-batches.ts';
import type { RunFolder } from '../../adapters/local/run-folder.ts';
import { type LockDeps, lockRun } from '../../adapters/local/run-lock.ts';
import { sweepLeftovers } from '../../adapters/local/sweep-leftovers.ts';
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
    throw error;
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
 * half-made files, torn lines, rows without ledger entry, open batches. Throws `RunLockedError` and
 * `StoredFileError`.
 */
export async function openRun(folder: RunFolder, lock: LockDeps): Promise<OpenRun> {
  const made = await mkdir(folder.path, { recursive: true });
  if (made !== undefined) await syncFolder(dirname(folder.path));
  const release = await lockRun(folder.lock, lock);
  try {
    await sweepLeftovers(folder, lock.processStarted);
    const run = await readRunFile(folder);
    const ledger = await openLocalLedger(folder.ledger);
    const state = createRunState();
    for await (const entry of ledger.entries()) state.add(entry);
    const pass = Math.max(1, run?.passes.length ?? 1);
    const recovery = await recoverBatches(folder, { ledger, state, pass });
    return {
      run,
      ledger,
      state,
      recovery,
      async close() {
        await ledger.close();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}
