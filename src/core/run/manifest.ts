import { z } from 'zod';
import { metaOf, RUN_CONFIG_KEYS, type RunConfigKey, runConfigSchema } from './run-config.ts';

const count = z.int().min(0);

/** One pass over one version of the dataset. */
export const passSchema = z.object({
  pass: z.int().min(1),
  started_at: z.string(),
  dataset_file: z.string(),
  dataset_sha256: z.string(),
  rows: count,
  invalid_rows: count,
  /** The pass whose `input.jsonl` holds this dataset: an earlier one where nothing changed. */
  input_of_pass: z.int().min(1),
  samples_per_prompt: z.int().min(1),
  max_samples: z.int().min(1).nullable(),
  /** What people are told: settings that were changed, the first bad lines. */
  notices: z.array(z.string()).exactOptional(),
});
export type PassRecord = z.infer<typeof passSchema>;

const toolSchema = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
});

/** The one image that a name stands for in a whole run. */
export const imagePinSchema = z.object({
  /** As rows have it: `name@sha256:…`, or the id of an image that no registry has. */
  pin: z.string(),
  /** The Docker daemon's own digest of it, by which it is found wherever it was loaded. */
  id: z.string(),
});
export type ImagePin = z.infer<typeof imagePinSchema>;

/** What makes a run the same run in every pass, frozen at its first; only `images` grows. */
export const manifestSchema = z.object({
  version: z.literal(1),
  talaria: z.string(),
  node: z.string(),
  created_at: z.string(),
  /** No model was asked: the rows are made up. */
  rehearsal: z.boolean(),
  sandbox: z.string(),
  /** What each image name stood for when a pass first used it: every later pass uses the same. */
  images: z.record(z.string(), imagePinSchema).default({}),
  ephemeral_system_prompt_sha256: z.string(),
  prefill_messages_sha256: z.string(),
  /** Percent of each toolset of the distribution; "" and {} for a fixed set. */
  distribution: z.object({ name: z.string(), toolsets: z.record(z.string(), z.number()) }),
  /** Toolsets that worked here when the run began: only these are drawn, in every pass. */
  available_toolsets: z.array(z.string()),
  tools: z.array(toolSchema),
  valid_tool_names: z.array(z.string()),
});
export type Manifest = z.infer<typeof manifestSchema>;

const SECRET_KEYS = { api_key: true, ephemeral_system_prompt: true } as const;

/** `run.json`: the settings under their flag names, then the manifest and the passes so far. */
export const runFileSchema = z.object({
  ...runConfigSchema.omit(SECRET_KEYS).partial().shape,
  manifest: manifestSchema,
  passes: z.array(passSchema),
});
export type RunFile = z.infer<typeof runFileSchema>;

/** Keys of `run.json` that are no settings; a config file may be a run's own `run.json`. */
export const RUN_FILE_ONLY_KEYS = ['manifest', 'passes'] as const;

/** The settings that a pass stores: no secret, nothing that concerns one call only. */
export function storedSettings(config: Record<string, unknown>): Record<string, unknown> {
  const stored: Record<string, unknown> = {};
  for (const key of RUN_CONFIG_KEYS) {
    if (metaOf(key).commandLineOnly === true || key in SECRET_KEYS) continue;
    if (config[key] !== undefined) stored[key] = config[key];
  }
  return stored;
}

/** A pass wants another value for what must stay the same in a run. */
export class FrozenSettingError extends Error {
  override readonly name = 'FrozenSettingError';
}

const FROZEN_IN_MANIFEST = {
  ephemeral_system_prompt_sha256: 'ephemeral_system_prompt',
  prefill_messages_sha256: 'prefill_messages_file',
  distribution: 'distribution',
  available_toolsets: 'toolsets',
  tools: 'toolsets',
  sandbox: 'sandbox',
} as const satisfies Partial<Record<keyof Manifest, string>>;

/**
 * Refuses a pass that would mix two kinds of data under one name. Throws `FrozenSettingError`
 * naming the key, what the run has and what came.
 */
export function assertSameRun(
  stored: RunFile,
  config: Record<string, unknown>,
  manifest: Manifest,
): void {
  for (const key of RUN_CONFIG_KEYS) {
    if (metaOf(key).frozen !== true || key in SECRET_KEYS) continue;
    refuseChange(key, stored[key as Exclude<RunConfigKey, keyof typeof SECRET_KEYS>], config[key]);
  }
  for (const [key, flag] of Object.entries(FROZEN_IN_MANIFEST)) {
    const of = key as keyof typeof FROZEN_IN_MANIFEST;
    refuseChange(flag, stored.manifest[of], manifest[of]);
  }
}

function refuseChange(key: string, has: unknown, came: unknown): void {
  const before = JSON.stringify(has) ?? 'nothing';
  const now = JSON.stringify(came) ?? 'nothing';
  if (before === now) return;
  throw new FrozenSettingError(
    `${key} can't change within a run: the run has ${cut(before)}, this pass has ${cut(now)}. Take another --run_name, or leave the flag as it was.`,
  );
}

function cut(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
