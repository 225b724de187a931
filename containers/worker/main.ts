import { createHash, randomUUID } from 'node:crypto';
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { fromTemporaryCredentials } from '@aws-sdk/credential-providers';
import { createBatchWork } from '../../src/adapters/aws/batch-work.ts';
import { openBucket } from '../../src/adapters/aws/bucket.ts';
import { createBucketWorkerObjects } from '../../src/adapters/aws/bucket-worker-objects.ts';
import { openTable } from '../../src/adapters/aws/table.ts';
import { systemClock as clock } from '../../src/adapters/local/system-clock.ts';
import { secretValues } from '../../src/core/agent/secret-values.ts';
import { workerEnvSchema } from './env.ts';
import { runWorker } from './run-worker.ts';

/** Of nobody else in the image. */
const AGENT_ID = 1000;
/** ECS kills 120 s after it has told to stop. */
const TIMING = { connectMs: 60_000, renewMs: 30_000, graceMs: 80_000 };
/** A task's work is not lost over a minute without an answer. */
const MAX_ATTEMPTS = 10;
const EXIT_CODES = { closed: 0, handed_back: 0, stopped_early: 0, lost: 3, no_sandbox: 4 };

// Only init needs to be root; where containers can't be told their user, the agent begins as root too.
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(AGENT_ID);
  process.setuid?.(AGENT_ID);
}
const env = workerEnvSchema.parse(process.env);
const { RUN_NAME: run, BATCH: batch, LAUNCH: launch } = env;
const sha256Hex = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

function log(message: string, fields: Record<string, unknown> = {}): void {
  const line = { at: new Date().toISOString(), run, batch, launch, message, ...fields };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const settings = {
  maxAttempts: MAX_ATTEMPTS,
  ...(env.WORKER_ROLE_ARN !== undefined && {
    credentials: fromTemporaryCredentials({
      params: {
        RoleArn: env.WORKER_ROLE_ARN,
        RoleSessionName: `talaria-${batch}-${launch}`,
        ...(env.WORKER_EXTERNAL_ID !== undefined && { ExternalId: env.WORKER_EXTERNAL_ID }),
      },
    }),
  }),
};
const table = openTable(env.TABLE_NAME, settings);
const bucket = openBucket(env.BUCKET_NAME, env.AWS_ENDPOINT_URL, settings);

// Waits alone keep no process alive.
setInterval(() => undefined, 2 ** 30);
const end = await runWorker({
  work: createBatchWork({ table, clock, run, batch, launch, uniqueId: randomUUID }),
  objects: createBucketWorkerObjects(bucket, run, sha256Hex),
  clock,
  launch,
  sockets: Array.from({ length: env.SANDBOXES }, (_, at) =>
    join(env.SOCKET_FOLDER, String(at), 'sandbox.sock'),
  ),
  image: env.IMAGE,
  concurrency: env.TASK_CONCURRENCY,
  modelKeys: env.MODEL_KEYS,
  secrets: secretValues(process.env, env.WORKER_EXTERNAL_ID),
  sha256Hex,
  random: Math.random,
  freeDisk() {
    const { bavail, bsize } = statfsSync('/');
    return bavail * bsize;
  },
  onStopSignal(callback) {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, callback);
  },
  log,
  timing: TIMING,
});
log('ended', { end });
process.exit(EXIT_CODES[end]);
