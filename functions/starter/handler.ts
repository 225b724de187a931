import { createHash, randomUUID } from 'node:crypto';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SQSClient } from '@aws-sdk/client-sqs';
import { openBucket } from '../../src/adapters/aws/bucket.ts';
import { createBucketWorkerObjects } from '../../src/adapters/aws/bucket-worker-objects.ts';
import { createDynamoDispatchedBatches } from '../../src/adapters/aws/dynamo-dispatched-batches.ts';
import { createDynamoPlannedBatches } from '../../src/adapters/aws/dynamo-planned-batches.ts';
import { createDynamoPromptOutcomes } from '../../src/adapters/aws/dynamo-prompt-outcomes.ts';
import { createLambdaStarterCalls } from '../../src/adapters/aws/lambda-starter-calls.ts';
import { createPassClaims } from '../../src/adapters/aws/pass-claims.ts';
import { createS3PassFiles } from '../../src/adapters/aws/s3-pass-files.ts';
import { createSqsBatchQueue } from '../../src/adapters/aws/sqs-batch-queue.ts';
import { openTable } from '../../src/adapters/aws/table.ts';
import { gunzip } from '../../src/adapters/local/gunzip.ts';
import { BUILTIN_TOOLS } from '../../src/core/tools/builtin-tools.ts';
import { starterEnvSchema } from './env.ts';
import { type StarterDeps, start } from './starter.ts';

declare const TALARIA_VERSION: string;

const env = starterEnvSchema.parse(process.env);
const table = openTable(env.TABLE_NAME);
const bucket = openBucket(env.BUCKET_NAME, env.AWS_ENDPOINT_URL);
const sha256Hex = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');
const calls = createLambdaStarterCalls(new LambdaClient({}), {
  starter: env.STARTER_NAME,
  dispatcher: env.DISPATCHER_NAME,
  merge: env.MERGE_NAME,
});

const deps: Omit<StarterDeps, 'remainingMs'> = {
  ...calls,
  claims: createPassClaims(table),
  files: createS3PassFiles(bucket),
  planned: createDynamoPlannedBatches(table),
  batches: createDynamoDispatchedBatches(table, randomUUID),
  queue: createSqsBatchQueue(new SQSClient({}), env.QUEUE_URL),
  outcomes: (run) => createDynamoPromptOutcomes(table, run),
  objects: (run) => createBucketWorkerObjects(bucket, run, sha256Hex),
  gunzip,
  sha256() {
    const hash = createHash('sha256');
    return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') };
  },
  sha256Hex,
  standardConfig: env.DEFAULT_RUN_CONFIG,
  tools: BUILTIN_TOOLS,
  talaria: typeof TALARIA_VERSION === 'undefined' ? 'unknown' : TALARIA_VERSION,
  node: process.version,
  now: () => Date.now(),
  newId: randomUUID,
  log,
  countRefused: (run) => count('PassesRefused', run),
};

export const handler = (
  event: unknown,
  context: { getRemainingTimeInMillis(): number },
): Promise<void> =>
  start(event, { ...deps, remainingMs: () => context.getRemainingTimeInMillis() });

function log(level: 'info' | 'error', message: string, fields: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ level, message, ...fields })}\n`);
}

/** A metric, as CloudWatch reads it out of a log line. */
function count(metric: string, run: string): void {
  const metrics = [
    { Namespace: 'Talaria', Dimensions: [[]], Metrics: [{ Name: metric, Unit: 'Count' }] },
  ];
  const line = { _aws: { Timestamp: Date.now(), CloudWatchMetrics: metrics }, [metric]: 1, run };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
