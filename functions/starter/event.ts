import { z } from 'zod';

const s3RecordSchema = z.object({
  s3: z.object({
    object: z.object({
      key: z.string(),
      versionId: z.string().optional(),
      sequencer: z.string().optional(),
    }),
  }),
});

/** What invokes the function. */
export const starterEventSchema = z.union(
  [
    z.object({ Records: z.array(s3RecordSchema) }),
    /** A planner died, or the merge has begun the next pass. */
    z.strictObject({ resume_planning: z.string().min(1) }),
    /** An invocation whose time ran out. */
    z.strictObject({
      continue_planning: z.strictObject({
        run: z.string().min(1),
        owner: z.string().min(1),
        /** Invocations in a row so far. */
        hops: z.int().min(1),
      }),
    }),
    /** Sent once when the bucket's notification is set up. */
    z.object({ Event: z.literal('s3:TestEvent') }),
  ],
  'expected records of the bucket, or one of resume_planning, continue_planning',
);
export type S3Record = z.infer<typeof s3RecordSchema>;

/** Keys in events are URL-encoded, a space as `+`. */
export function eventKey(encoded: string): string {
  return decodeURIComponent(encoded.replaceAll('+', ' '));
}
