import type { Ledger } from '../ports/ledger.ts';
import type { MergeClaim, MergeEnd, MergeProgress } from '../ports/merge-progress.ts';
import type { RunFiles } from '../ports/run-files.ts';
import { type RunFile, runFileSchema } from '../run/manifest.ts';
import { type MergeDeps, mergeRun } from '../run/merge.ts';
import { runKeys } from './bucket-keys.ts';
import { dueMerge, MERGE_LEASE_MS } from './merge-claim.ts';
import type { RunRecord } from './run-record.ts';

export interface MergeCloudRunDeps {
  progress: MergeProgress;
  now(): number;
  /** The text of an object. */
  text(key: string): Promise<string>;
  openLedger(runName: string): Promise<Pick<Ledger, 'entries'>>;
  runFiles(runName: string): RunFiles;
  inputRows(key: string): ReturnType<MergeDeps['inputRows']>;
  sha256Hex(text: string): string;
  /** Has the starter plan the pass that this merge's end began. */
  resumePlanning(runName: string): Promise<void>;
  /** Has another invocation merge the run. */
  mergeLater(runName: string): Promise<void>;
}

/**
 * Makes a run's files and ends the run, where that is due: all batches merged, or a paused run, and
 * nobody else at it. The same code as `talaria merge`. May be called at any time, and twice at once;
 * resolves to what became of the run, undefined where nothing was due.
 */
export async function mergeCloudRun(
  runName: string,
  deps: MergeCloudRunDeps,
): Promise<MergeEnd | undefined> {
  const taken = await takeMerge(runName, deps);
  if (taken === undefined) return undefined;
  const { claim, run } = taken;
  try {
    await mergeFiles(runName, deps);
  } catch (error) {
    await deps.progress.release(claim);
    throw error;
  }
  const end = await deps.progress.end(claim, deps.now());
  if (end === 'planning') await deps.resumePlanning(runName);
  if (end === 'paused' && (await hasGrown(run, deps))) await deps.mergeLater(runName);
  return end;
}

async function takeMerge(
  runName: string,
  { progress, now }: MergeCloudRunDeps,
): Promise<{ claim: MergeClaim; run: RunRecord } | undefined> {
  const run = await progress.run(runName);
  if (run === undefined) return undefined;
  const at = now();
  const from = dueMerge(run, at);
  if (from === undefined) return undefined;
  const claim = await progress.claim(run, from, at, at + MERGE_LEASE_MS);
  return claim === undefined ? undefined : { claim, run };
}

/** Whether a merge is due of batches that were merged while the one of a paused run kept it out. */
async function hasGrown(before: RunRecord, { progress, now }: MergeCloudRunDeps): Promise<boolean> {
  const run = await progress.run(before.run_name);
  if (run === undefined || dueMerge(run, now()) === undefined) return false;
  return run.state !== 'paused' || run.batches_merged > before.batches_merged;
}

async function mergeFiles(runName: string, deps: MergeCloudRunDeps): Promise<void> {
  const keys = runKeys(runName);
  const run: RunFile = runFileSchema.parse(JSON.parse(await deps.text(keys.manifest)));
  await mergeRun(run, {
    ledger: await deps.openLedger(runName),
    files: deps.runFiles(runName),
    inputRows: (pass) => deps.inputRows(keys.input(pass.input_of_pass)),
    sha256Hex: deps.sha256Hex,
  });
}
