import { z } from 'zod';

const text = z.string().min(1);

export const mergeEnvSchema = z.object({
  TABLE_NAME: text,
  BUCKET_NAME: text,
  /** This function: the run's merge is an invocation of its own, and so are groups of parts. */
  MERGE_NAME: text,
  /** Plans the pass that begins where a run's merge ends. */
  STARTER_NAME: text,
  /** Set for an emulator only. */
  AWS_ENDPOINT_URL: text.optional(),
});
export type MergeEnv = z.infer<typeof mergeEnvSchema>;
