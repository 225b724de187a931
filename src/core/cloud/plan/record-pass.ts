import type { PassFiles } from '../../ports/pass-files.ts';
import {
  type PassRecord,
  type RunFile,
  runFileSchema,
  storedSettings,
} from '../../run/manifest.ts';
import { runKeys, uploadKeys } from '../bucket-keys.ts';
import type { RunRecord } from '../run-record.ts';
import type { CopiedDataset } from './copy-dataset.ts';
import type { PassSettings } from './pass-settings.ts';
import { PlanLostError } from './plan-hold.ts';

/**
 * Records the pass in the run's `run.json`, and takes what is sent and never written to its own
 * place first. Run again, it changes nothing. Throws `PlanLostError`.
 */
export async function recordPass(
  run: RunRecord,
  settings: PassSettings,
  copied: CopiedDataset,
  deps: { files: PassFiles; startedAt: number },
): Promise<void> {
  const { files } = deps;
  const { stored, secret } = settings;
  const keys = runKeys(run.run_name);
  // Frozen: a later pass may only give again what the run has already.
  if (stored === undefined) {
    if (secret !== undefined) await files.put(keys.privateFile, secret.text);
    // A pass that never came to run may have left one.
    else await files.remove(keys.privateFile);
  }
  const text = `${JSON.stringify(runFileOf(run, settings, copied, deps.startedAt), null, 2)}\n`;
  if (!(await files.replace(keys.manifest, text, settings.storedText))) {
    throw new PlanLostError(`${keys.manifest}: somebody else has changed it meanwhile`);
  }
}

/** Takes the secret away from where it was uploaded, once the run has it. */
export async function dropUploadedSecret(
  run: RunRecord,
  { secret }: PassSettings,
  files: PassFiles,
): Promise<void> {
  if (secret === undefined) return;
  await files.remove(uploadKeys(run.run_name).privateFile, secret.versionId);
}

function runFileOf(
  run: RunRecord,
  { config, stored, manifest, notices }: PassSettings,
  copied: CopiedDataset,
  startedAt: number,
): RunFile {
  const passes = stored?.passes ?? [];
  const last = passes.at(-1);
  const told = [...notices, ...invalidNotice(copied)];
  const record: PassRecord = {
    pass: run.pass,
    started_at: new Date(startedAt).toISOString(),
    dataset_file: config.dataset_file,
    dataset_sha256: copied.sha256,
    rows: copied.rows,
    invalid_rows: copied.invalidCount,
    input_of_pass: last?.dataset_sha256 === copied.sha256 ? last.input_of_pass : run.pass,
    samples_per_prompt: config.samples_per_prompt,
    max_samples: config.max_samples ?? null,
    ...(told.length > 0 && { notices: told }),
  };
  return runFileSchema.parse({
    ...storedSettings(config),
    manifest: stored?.manifest ?? manifest,
    passes: [...passes, record],
  });
}

function invalidNotice({ invalidCount, invalid }: CopiedDataset): string[] {
  if (invalidCount === 0) return [];
  const lines = invalid.map(({ line, reason }) => `line ${line}: ${reason}`);
  const more = invalidCount > lines.length ? [`and ${invalidCount - lines.length} more`] : [];
  return [`${invalidCount} bad lines are skipped`, ...lines, ...more];
}
