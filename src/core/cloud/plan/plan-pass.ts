import { DatasetError } from '../../dataset/dataset-error.ts';
import { gzipProblem } from '../../dataset/gzip-problem.ts';
import { unpacked } from '../../dataset/unpacked.ts';
import type { BatchQueue } from '../../ports/batch-queue.ts';
import type { PassClaims, StartedRun } from '../../ports/pass-claims.ts';
import type { PassFiles } from '../../ports/pass-files.ts';
import type { PlannedBatches } from '../../ports/planned-batches.ts';
import { runKeys } from '../bucket-keys.ts';
import { type CloseEarlierDeps, closeEarlierBatches } from './close-earlier-batches.ts';
import { type CopiedDataset, type CopyDeps, copyDataset } from './copy-dataset.ts';
import { type PassSettings, readPassSettings, type SettingsDeps } from './pass-settings.ts';
import {
  DatasetTimeError,
  OutOfTimeError,
  type PlanHold,
  type PlanHoldDeps,
  PlanLostError,
} from './plan-hold.ts';
import { planReferences } from './plan-references.ts';
import { putBatches } from './put-batches.ts';
import { type QueueDeps, queueBatches } from './queue-batches.ts';
import { dropUploadedSecret, recordPass } from './record-pass.ts';

type Bytes = AsyncIterable<Uint8Array>;

export interface PlanDeps extends SettingsDeps, QueueDeps, PlanHoldDeps, CloseEarlierDeps {
  batches: QueueDeps['batches'] & CloseEarlierDeps['batches'];
  claims: PassClaims;
  files: PassFiles;
  planned: PlannedBatches;
  queue: BatchQueue;
  gunzip(packed: Bytes): Bytes;
  sha256(): CopyDeps['hash'];
  nudgeDispatcher(): Promise<void>;
  mergeRun(run: string): Promise<void>;
}

/**
 * Plans the pass that is held, from wherever an earlier try came to, and sets it going: no batch may
 * be launched before all of them are there. Throws `PlanLostError`, `OutOfTimeError`, and the errors
 * of a dataset or settings that people have to mend (see `isRefusal`).
 */
export async function planPass(hold: PlanHold, deps: PlanDeps): Promise<void> {
  if (hold.run.state === 'planning') await makeBatches(hold, deps);
  const { run_name: run, pass } = hold.run;
  const sent = await queueBatches(hold, deps);
  await mergeIfComplete(run, deps);
  await deps.claims.finish(run, hold.planner);
  deps.log('info', 'pass started', { run, pass, messages: sent });
  await deps.nudgeDispatcher();
}

/** `planning → running`, with all batches of the pass. */
async function makeBatches(hold: PlanHold, deps: PlanDeps): Promise<void> {
  const { run } = hold;
  const keys = runKeys(run.run_name);
  const settings = await readPassSettings(run, hold.planner.claimed_at, deps);
  const { config, batchSize, stored } = settings;
  const isRecorded = stored?.passes.some(({ pass }) => pass === run.pass) ?? false;
  if (!isRecorded) await takeDataset(hold, settings, deps);
  await dropUploadedSecret(run, settings, deps.files);
  await closeEarlierBatches(hold, deps);
  const planned = planReferences(deps.files.input(keys.input(run.pass)), {
    batchSize,
    samplesPerPrompt: config.samples_per_prompt,
    maxSamples: config.max_samples,
    sha256Hex: deps.sha256Hex,
    outcomes: run.pass === 1 ? undefined : deps.outcomes(run.run_name),
  });
  const count = await putBatches(planned, hold, deps.planned);
  const started: StartedRun = {
    batchesTotal: run.batches_total + count,
    numWorkers: config.num_workers,
    maxAttempts: config.max_attempts,
    model: config.model,
    defaultImage: config.default_image ?? '',
  };
  const planner = { ...hold.planner, first_batch: run.batches_total };
  if (!(await deps.claims.start(run.run_name, planner, started, deps.now()))) {
    throw new PlanLostError(`${run.run_name}: pass ${run.pass} is no longer planned here`);
  }
  hold.became({ ...run, state: 'running', batches_total: started.batchesTotal }, planner);
  // Of an earlier upload.
  await deps.files.remove(keys.error);
}

/** The dataset's valid rows become the pass's input, and the pass a part of the run. */
async function takeDataset(hold: PlanHold, settings: PassSettings, deps: PlanDeps): Promise<void> {
  const { run } = hold;
  const copied = await copyToInput(hold, settings, deps);
  for (const notice of settings.notices) {
    deps.log('info', notice, { run: run.run_name, pass: run.pass });
  }
  if (copied.invalidCount > 0) {
    const lines = copied.invalid.map(({ line }) => line);
    const fields = { run: run.run_name, pass: run.pass, count: copied.invalidCount, lines };
    deps.log('info', 'bad lines are skipped', fields);
  }
  await hold.touch();
  const startedAt = hold.planner.claimed_at;
  await recordPass(run, settings, copied, { files: deps.files, startedAt });
}

async function copyToInput(
  hold: PlanHold,
  { config, file }: PassSettings,
  deps: PlanDeps,
): Promise<CopiedDataset> {
  const { run } = hold;
  const writer = deps.files.openInput(runKeys(run.run_name).input(run.pass));
  try {
    const copied = await copyDataset(unpacked(deps.files.dataset(run.dataset), deps.gunzip), {
      file,
      strict: config.strict,
      hash: deps.sha256(),
      write: writer.write,
      tick: hold.touch,
    });
    await writer.close();
    return copied;
  } catch (error) {
    await writer.abort();
    throw faultOf(file, error);
  }
}

function faultOf(file: string, error: unknown): unknown {
  if (error instanceof OutOfTimeError) {
    const words = `${file}: expected a dataset that can be read within one invocation, got a larger one`;
    return new DatasetTimeError(words, { cause: error });
  }
  const problem = gzipProblem(error);
  return problem === undefined ? error : new DatasetError(file, 0, problem, { cause: error });
}

/** A pass that owes nothing has no batch whose end would make the files. */
async function mergeIfComplete(runName: string, deps: PlanDeps): Promise<void> {
  const run = await deps.claims.read(runName);
  if (run?.state === 'running' && run.batches_merged >= run.batches_total) {
    await deps.mergeRun(runName);
  }
}
