import { z } from 'zod';

const text = z.string().min(1);

/** What the dispatcher gives the agent container of a task. */
export const workerEnvSchema = z.object({
  TABLE_NAME: text,
  BUCKET_NAME: text,
  RUN_NAME: text,
  BATCH: z.coerce.number().int().min(0),
  LAUNCH: z.coerce.number().int().min(1),
  /** How many sandboxes the task has: their sockets are in `<SOCKET_FOLDER>/<n>`, from 0. */
  SANDBOXES: z.coerce.number().int().min(1).max(8),
  SOCKET_FOLDER: text.default('/.talaria-io'),
  /** Prompts at once: they share the task's network. */
  TASK_CONCURRENCY: z.coerce.number().int().min(1).max(8).default(1),
  /** What its sandboxes run, pinned: what rows record as their image. */
  IMAGE: text.optional(),
  WORKER_ROLE_ARN: text.optional(),
  WORKER_EXTERNAL_ID: text.optional(),
  /** JSON: {"<host>": "<key>"}; from the secret. */
  MODEL_KEYS: text,
  /** Set for an emulator only. */
  AWS_ENDPOINT_URL: text.optional(),
});
