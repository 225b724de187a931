import type { z } from 'zod';
import type { DispatchSettings } from '../../src/core/cloud/dispatch/dispatch-deps.ts';
import type { dispatcherEnvSchema } from './env.ts';

/** Often enough for leases of minutes. */
const SWEEP_EVERY_MS = 30_000;
/** A merge may take minutes; a second one at the same time changes nothing. */
const UNMERGED_MS = 5 * 60_000;

/** What the environment of the function says. */
export function dispatchSettings(env: z.output<typeof dispatcherEnvSchema>): DispatchSettings {
  return {
    maxTasks: env.MAX_TASKS,
    spot: env.SPOT === 'true',
    defaultImage: env.DEFAULT_IMAGE,
    disk: env.TASK_DISK,
    registrySecrets: env.REGISTRY_SECRETS,
    sweepEveryMs: SWEEP_EVERY_MS,
    unmergedMs: UNMERGED_MS,
    task: {
      family: env.TASK_FAMILY,
      cpu: env.TASK_CPU,
      memory: env.TASK_MEMORY,
      taskRoleArn: env.TASK_ROLE_ARN,
      executionRoleArn: env.EXECUTION_ROLE_ARN,
      workerImages: {
        amd64: env.WORKER_IMAGE,
        ...(env.WORKER_IMAGE_ARM64 !== undefined && { arm64: env.WORKER_IMAGE_ARM64 }),
      },
      secretArn: env.SECRET_ARN,
      logGroup: env.LOG_GROUP,
      region: env.AWS_REGION,
      agentEnv: {
        TABLE_NAME: env.TABLE_NAME,
        BUCKET_NAME: env.BUCKET_NAME,
        AWS_REGION: env.AWS_REGION,
        WORKER_ROLE_ARN: env.WORKER_ROLE_ARN,
        WORKER_EXTERNAL_ID: env.WORKER_EXTERNAL_ID,
      },
    },
  };
}
