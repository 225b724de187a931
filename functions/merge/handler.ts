import { createHash } from 'node:crypto';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { openBucket } from '../../src/adapters/aws/bucket.ts';
import { createBucketBatchObjects } from '../../src/adapters/aws/bucket-batch-objects.ts';
import { bucketInputRows } from '../../src/adapters/aws/bucket-input-rows.ts';
import { openBucketLedger } from '../../src/adapters/aws/bucket-ledger.ts';
import { createBucketRunFiles } from '../../src/adapters/aws/bucket-run-files.ts';
import { makeParts } from '../../src/adapters/aws/make-parts.ts';
import { createMergeInvocations } from '../../src/adapters/aws/merge-invocations.ts';
import { createMergeProgress } from '../../src/adapters/aws/merge-progress.ts';
import { createSpreadParts } from '../../src/adapters/aws/spread-parts.ts';
import { openTable } from '../../src/adapters/aws/table.ts';
import { mergeEnvSchema } from './env.ts';
import { type MergeDeps, merge } from './merge.ts';

const env = mergeEnvSchema.parse(process.env);
const bucket = openBucket(env.BUCKET_NAME, env.AWS_ENDPOINT_URL);
const invocations = createMergeInvocations(new LambdaClient({}), {
  merge: env.MERGE_NAME,
  starter: env.STARTER_NAME,
});
const join = { bucket, makeParts: createSpreadParts(bucket, invocations.makeParts) };
const objects = createBucketBatchObjects(bucket);

const deps: MergeDeps = {
  progress: createMergeProgress(openTable(env.TABLE_NAME)),
  objects,
  text: objects.text,
  now: () => Date.now(),
  sha256Hex: (text) => createHash('sha256').update(text, 'utf8').digest('hex'),
  openLedger: (runName) => openBucketLedger(runName, join),
  runFiles: (runName) => createBucketRunFiles(runName, join),
  inputRows: (key) => bucketInputRows(bucket, key),
  mergeLater: invocations.mergeRun,
  resumePlanning: invocations.resumePlanning,
  makeParts: (job) => makeParts(bucket, job),
  log: (level, message, fields) =>
    process.stdout.write(`${JSON.stringify({ level, message, ...fields })}\n`),
};

export const handler = (event: unknown): Promise<unknown> => merge(event, deps);
