import { z } from 'zod';

const count = z.int().min(0);
/** Milliseconds since 1970. */
const instant = z.int().min(0);

export const RUN_STATES = [
  'planning',
  'running',
  'pausing',
  'paused',
  'cancelling',
  'merging',
  'done',
  'failed',
  'cancelled',
] as const;
export type CloudRunState = (typeof RUN_STATES)[number];

/** States in which an upload begins a new pass. */
export const CLAIMABLE_STATES: readonly CloudRunState[] = ['done', 'failed', 'paused', 'cancelled'];

/** One version of an uploaded dataset, with the settings that lay beside it then. */
export const uploadSchema = z.object({
  key: z.string(),
  version_id: z.string(),
  /** Orders the events of one key: hexadecimal, compared with the shorter one padded with zeros. */
  sequencer: z.string(),
  /** Version of `run.json` beside it; "" where there was none. */
  config_version_id: z.string(),
});
export type Upload = z.infer<typeof uploadSchema>;

/** Who plans, until when, and how far it came. */
export const plannerSchema = z.object({
  owner: z.string(),
  lease_until: instant,
  tries: count,
  /** Why the last try ended; "" for the first. */
  problem: z.string().default(''),
  /** When the pass was claimed; 0 where nobody has planned yet. */
  claimed_at: instant.default(0),
  /** What the run was before: a dataset that is refused leaves it so. Null for a run's first pass. */
  from_state: z.enum(RUN_STATES).nullable().default(null),
  /** Once the run is `running`: the pass's first batch; messages may still be missing. */
  first_batch: count.default(0),
  /** So many batch items of the pass are there, from its first on. */
  batches_put: count.default(0),
});
export type Planner = z.infer<typeof plannerSchema>;

/** The run item: `RUN#<run>` / `RUN`. */
export const runRecordSchema = z.object({
  run_name: z.string(),
  state: z.enum(RUN_STATES),
  /** Why it is `pausing`, `paused` or `failed`; "" otherwise. */
  reason: z.string(),
  pass: z.int().min(1),
  dataset: uploadSchema,
  /** A version that came while the run was busy. */
  next_dataset: uploadSchema.nullable(),
  /** The last sequencer seen of each key. */
  sequencers: z.record(z.string(), z.string()),
  planner: plannerSchema.nullable(),
  /** Tasks at once, from the run config. */
  num_workers: z.int().min(1),
  max_attempts: z.int().min(1),
  /** From the run config: for the attempts that end without a task. */
  model: z.string().default(''),
  /** From the run config, for rows without image; "" for the stack's. */
  default_image: z.string().default(''),
  /** Over all passes; a pass's first batch is the total before it. */
  batches_total: count,
  batches_merged: count,
  /** Launches under way. */
  active: count,
  /** Stops in a row before any task claimed its batch. */
  stops_unclaimed: count,
  /** Of the run's merge. */
  merge_lease_until: instant,
  /** The state before `merging`: says what it becomes afterwards. */
  merging_from: z.enum(['running', 'cancelling']).optional(),
  /** The last pass whose stored rows were deleted, a day after its end. */
  samples_deleted_pass: count.optional(),
  started_at: z.string(),
  updated_at: z.string(),
});
export type RunRecord = z.infer<typeof runRecordSchema>;
