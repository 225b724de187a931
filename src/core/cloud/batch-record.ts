import { z } from 'zod';

const count = z.int().min(0);
/** Milliseconds since 1970; 0 for never. */
const instant = z.int().min(0);

export const BATCH_STATES = [
  'waiting',
  'queued',
  'launching',
  'running',
  'closed',
  'merged',
] as const;
export type BatchState = (typeof BATCH_STATES)[number];

/** Most prompts of one batch where each has a container of its own: a task has ten containers. */
export const MAX_CLOUD_BATCH = 8;

/** A prompt by reference: its row is `length` bytes at `offset` of the pass's `input.jsonl`. */
export const promptReferenceSchema = z.object({
  index: count,
  sample: count,
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  occurrence: count,
  offset: count,
  length: z.int().min(1),
  /** Attempts in earlier passes: numbers go on. */
  attempts_before: count,
});
export type PromptReference = z.infer<typeof promptReferenceSchema>;

/** A batch item: `RUN#<run>#BATCH#<n>` / `BATCH`. */
export const batchRecordSchema = z.object({
  run_name: z.string(),
  batch: count,
  pass: z.int().min(1),
  state: z.enum(BATCH_STATES),
  /** As the rows have it; "" for the default. */
  image: z.string(),
  prompts: z.array(promptReferenceSchema).min(1),
  /** Prompts without a final outcome. */
  remaining: count,
  /** Prompts that an early close left without one. */
  unfinished: count,
  /** Number of the last launch; 0 before the first. */
  launch: count,
  /**
   * Until when the launch may work on it. In `waiting`: not to be sent again before. In `queued`:
   * `queuedUntil`.
   */
  lease_until: instant,
  task_arn: z.string(),
  /** Whether the last launch is a Spot one. */
  spot: z.boolean(),
  /** Launches that ended before any task claimed the batch, for the wait before the next. */
  unclaimed: count,
  /** Started model work without an end, by position. */
  starts: z.record(z.string(), count),
  /** The last launch that began a prompt, whatever became of it; absent before the first. */
  begun_by: count.optional(),
  /** Prompts at once of the next launch: one after a launch that ended without handing back. */
  careful: z.boolean(),
  /** When its message was last sent. */
  queued_at: instant,
  closed_at: instant,
});
export type BatchRecord = z.infer<typeof batchRecordSchema>;

/**
 * `lease_until` of a queued batch. Far off, so that what is due comes first in the `live` index, and
 * in order of sending, so that those whose message was lost come first among the queued.
 */
export const queuedUntil = (queuedAt: number) => 1e15 + queuedAt;

/** What SQS carries: that a batch waits for a task. The table says what it is. */
export const batchMessageSchema = z.object({
  v: z.literal(1),
  run: z.string(),
  pass: z.int().min(1),
  batch: count,
  image: z.string(),
  prompts: z.array(promptReferenceSchema).min(1),
});
export type BatchMessage = z.infer<typeof batchMessageSchema>;
