import { z } from 'zod';

const count = z.int().min(0);
/** Milliseconds since 1970; 0 for never. */
const instant = z.int().min(0);

/** How a task ended, in the words of ECS. */
export const taskStopSchema = z.object({
  code: z.string(),
  reason: z.string(),
  containers: z.array(
    z.object({
      name: z.string(),
      /** Null where it never ran. */
      exit_code: z.int().nullable(),
      reason: z.string(),
    }),
  ),
});
export type TaskStop = z.infer<typeof taskStopSchema>;

/**
 * A launch under way: `FLEET` / `LAUNCH#<token>`. It has all that its RunTask call needs, so that the
 * call can be repeated word for word.
 */
export const launchRecordSchema = z.object({
  /** `clientToken` and `startedBy`. */
  token: z.string(),
  run_name: z.string(),
  batch: count,
  launch: z.int().min(1),
  /** Of its sandboxes, as rows have it or as the default is called: key of the image item. */
  image: z.string(),
  task_definition: z.string(),
  sandboxes: z.int().min(1),
  spot: z.boolean(),
  /** Prompts without a final outcome when it began. */
  remaining: count,
  /** Starts of prompts without an end when it began, together. */
  starts: count,
  /** "" until RunTask has answered. */
  task_arn: z.string(),
  launched_at: instant,
  /** Whether its worker was seen at work. */
  is_claimed: z.boolean(),
  /** As an event told it, before anyone acted on it. */
  stop: taskStopSchema.nullable(),
});
export type LaunchRecord = z.infer<typeof launchRecordSchema>;

/** `FLEET` / `DISPATCHER`: who dispatches, and how many launches are under way. */
export const fleetRecordSchema = z.object({
  owner: z.string().default(''),
  lease_until: instant.default(0),
  /** Somebody found the lease held: look once more. */
  again: z.boolean().default(false),
  active: z.int().default(0),
  swept_at: instant.default(0),
  definitions_swept_at: instant.default(0),
  samples_swept_at: instant.default(0),
});
export type FleetRecord = z.infer<typeof fleetRecordSchema>;
