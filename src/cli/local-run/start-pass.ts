import { readSnapshotRows } from '../../adapters/local/dataset-rows.ts';
import { writeFileAtomically } from '../../adapters/local/write-file-atomically.ts';
import { type CheckpointBuilder, createCheckpoint } from '../../core/run/checkpoint.ts';
import {
  type ImagePin,
  type PassRecord,
  type RunFile,
  storedSettings,
} from '../../core/run/manifest.ts';
import { promptsOfDataset } from '../../core/run/pass-prompts.ts';
import type { Wiring } from '../wiring.ts';
import type { OpenRun } from './open-run.ts';
import { type StagedInput, settleInput } from './pass-input.ts';
import type { RunPlan } from './run-plan.ts';

/** A pass that is recorded in `run.json` and may now cost money. */
export interface StartedPass {
  run: RunFile;
  record: PassRecord;
  /** Whether the dataset is the one of the pass before. */
  unchanged: boolean;
  prompts: { fresh: number; done: number; toRetry: number };
  checkpoint: CheckpointBuilder;
}

/** Takes the dataset into the run, counts what is owed, and records the pass and its image pins durably. */
export async function startPass(
  plan: RunPlan,
  staged: StagedInput,
  open: OpenRun,
  { wiring, pins }: { wiring: Wiring; pins: ReadonlyMap<string, ImagePin> },
): Promise<StartedPass> {
  const { config, folder, stored } = plan;
  const passes = stored?.passes ?? [];
  const last = passes.at(-1);
  const pass = (last?.pass ?? 0) + 1;
  const unchanged = last?.dataset_sha256 === staged.sha256;
  const record: PassRecord = {
    pass,
    started_at: new Date(wiring.clock.now()).toISOString(),
    dataset_file: config.dataset_file,
    dataset_sha256: staged.sha256,
    rows: staged.rows,
    invalid_rows: staged.invalidCount,
    input_of_pass: await settleInput(staged, folder, pass, last),
    samples_per_prompt: config.samples_per_prompt,
    max_samples: config.max_samples ?? null,
  };
  const manifest = stored?.manifest ?? plan.manifest;
  const run: RunFile = {
    ...storedSettings(config),
    // Before any of them is used: a pass that is killed must not leave the choice to the next.
    manifest: { ...manifest, images: { ...manifest.images, ...Object.fromEntries(pins) } },
    passes: [...passes, record],
  };
  if (Object.keys(plan.secret).length > 0) {
    await writeFileAtomically(folder.privateFile, `${JSON.stringify(plan.secret)}\n`, 0o600);
  }
  await writeFileAtomically(folder.manifest, `${JSON.stringify(run, null, 2)}\n`);
  const checkpoint = createCheckpoint(config.run_name, record.rows);
  for await (const { batch, outcome } of open.ledger.entries()) {
    checkpoint.addAttempt(batch, outcome);
  }
  const prompts = await countPrompts(plan, record, open, checkpoint, wiring);
  return { run, record, unchanged, prompts, checkpoint };
}

async function countPrompts(
  { folder }: RunPlan,
  record: PassRecord,
  { state }: OpenRun,
  checkpoint: CheckpointBuilder,
  wiring: Wiring,
) {
  const prompts = { fresh: 0, done: 0, toRetry: 0 };
  const limit = record.max_samples ?? Number.POSITIVE_INFINITY;
  const deps = {
    inputRows: (of: PassRecord) => readSnapshotRows(folder.input(of.input_of_pass)),
    sha256Hex: wiring.sha256Hex,
  };
  for await (const { promptId, promptIndex } of promptsOfDataset(record, deps)) {
    const done = state.isDone(promptId);
    if (!done) checkpoint.owe(promptIndex);
    if (promptIndex >= limit) continue;
    if (done) prompts.done += 1;
    else if (state.attempts(promptId) > 0) prompts.toRetry += 1;
    else prompts.fresh += 1;
  }
  return prompts;
}
