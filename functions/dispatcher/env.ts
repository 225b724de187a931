import { z } from 'zod';

const text = z.string().min(1);
const list = z.string().transform((value) => value.split(',').filter((part) => part !== ''));

export const dispatcherEnvSchema = z.object({
  TABLE_NAME: text,
  BUCKET_NAME: text,
  QUEUE_URL: text,
  STARTER_NAME: text,
  MERGE_NAME: text,
  CLUSTER_ARN: text,
  /** Comma lists. */
  SUBNET_IDS: list,
  SECURITY_GROUP_IDS: list,
  ASSIGN_PUBLIC_IP: z.enum(['ENABLED', 'DISABLED']),
  /** Tasks of the whole stack at once. */
  MAX_TASKS: z.coerce.number().int().min(1),
  /** Of every task: CPU units, MiB, GiB of disk. */
  TASK_CPU: z.coerce.number().int(),
  TASK_MEMORY: z.coerce.number().int(),
  TASK_DISK: z.coerce.number().int().min(21).max(200),
  SPOT: z.enum(['true', 'false']),
  /** Family prefix of the task definitions that are registered. */
  TASK_FAMILY: text,
  TASK_ROLE_ARN: text,
  EXECUTION_ROLE_ARN: text,
  /** What the agent container assumes, with its external id. */
  WORKER_ROLE_ARN: text,
  WORKER_EXTERNAL_ID: text,
  WORKER_IMAGE: text,
  /** The same for arm64, where one is deployed: for images that have nothing else. */
  WORKER_IMAGE_ARM64: text.optional(),
  /** For rows without image where the run names none. */
  DEFAULT_IMAGE: text,
  /** Secret with the model keys, by host. */
  SECRET_ARN: text,
  /** JSON: {"<registry>": "<ARN of a secret with username and password>"}; for images that need it. */
  REGISTRY_SECRETS: z
    .string()
    .default('{}')
    .transform((value): unknown => JSON.parse(value))
    .pipe(z.record(z.string(), text)),
  LOG_GROUP: text,
  AWS_REGION: text,
  /** `emulator`: no dependsOn, no entry points, host paths; see docs/emulator.md. */
  PLATFORM: z.enum(['aws', 'emulator']),
  /** Set for an emulator only. */
  AWS_ENDPOINT_URL: text.optional(),
  /** For an emulator only: its folder of the machine, `runtime` in it is the sandbox runtime. */
  EMULATOR_FOLDER: text.default('/tmp/talaria-emulator'),
});
export type DispatcherEnv = z.input<typeof dispatcherEnvSchema>;
