import { z } from 'zod';

const text = z.string().min(1);

export const starterEnvSchema = z.object({
  TABLE_NAME: text,
  BUCKET_NAME: text,
  QUEUE_URL: text,
  /** Function to nudge once messages are sent. */
  DISPATCHER_NAME: text,
  /** This function: a long plan goes on in another invocation of it. */
  STARTER_NAME: text,
  /** For a run of no prompts, which goes to its merge at once. */
  MERGE_NAME: text,
  /** JSON of the run config that uploads without `run.json` get. */
  DEFAULT_RUN_CONFIG: text,
  /** Set for an emulator only. */
  AWS_ENDPOINT_URL: text.optional(),
});
export type StarterEnv = z.infer<typeof starterEnvSchema>;
