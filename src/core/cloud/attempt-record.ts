import { z } from 'zod';
import { ledgerEntrySchema } from '../run/ledger-entry.ts';
import { outcomeSchema } from '../trajectory/outcome.ts';

const count = z.int().min(0);

/** An attempt item, never overwritten: `RUN#<run>#BATCH#<n>` / `ATTEMPT#<position>#<attempt>`. */
export const attemptRecordSchema = z.object({
  position: count,
  launch: z.int().min(1),
  /** Key of its row in the bucket; "" for an attempt without one (image unavailable, cancelled). */
  sample_key: z.string(),
  entry: ledgerEntrySchema,
  /** Set where its outcome and `max_attempts` do not tell whether it is its prompt's last. */
  is_final: z.boolean().optional(),
});
export type AttemptRecord = z.infer<typeof attemptRecordSchema>;

/** A prompt item, written when the prompt ends: `RUN#<run>#PROMPT#<hash>` / `<occurrence>`. */
export const promptRecordSchema = z.object({
  outcome: outcomeSchema,
  attempt: z.int().min(1),
  batch: count,
  position: count,
  sample_key: z.string(),
});
export type PromptRecord = z.infer<typeof promptRecordSchema>;

/** What a run knows of an image: `RUN#<run>` / `IMAGE#<sha256 of the reference>`. */
export const imageRecordSchema = z.object({
  reference: z.string(),
  /** `name@sha256:…`: what every task of the run starts. "" while it is not known. */
  pinned: z.string(),
  /** `amd64` or `arm64`. */
  architecture: z.enum(['amd64', 'arm64']),
  /** Of its layers as they are pulled; 0 where not known. */
  size_bytes: count,
  /** Starts in a row that the image is to blame for. */
  failed_starts: count,
  /** Why it can't be had for good; "" while it can. */
  problem: z.string(),
  /** In which this was found out: a later pass asks again about an image with a problem. */
  pass: z.int().min(1).default(1),
});
export type ImageRecord = z.infer<typeof imageRecordSchema>;
