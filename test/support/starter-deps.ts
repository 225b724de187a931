import { createHash, randomUUID } from 'node:crypto';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { DeleteMessageBatchCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { type StarterDeps, start } from '../../functions/starter/starter.ts';
import { createBucketWorkerObjects } from '../../src/adapters/aws/bucket-worker-objects.ts';
import { createDynamoDispatchedBatches } from '../../src/adapters/aws/dynamo-dispatched-batches.ts';
import { createDynamoPlannedBatches } from '../../src/adapters/aws/dynamo-planned-batches.ts';
import { createDynamoPromptOutcomes } from '../../src/adapters/aws/dynamo-prompt-outcomes.ts';
import { createPassClaims } from '../../src/adapters/aws/pass-claims.ts';
import { createS3PassFiles } from '../../src/adapters/aws/s3-pass-files.ts';
import { createSqsBatchQueue } from '../../src/adapters/aws/sqs-batch-queue.ts';
import { batchKey, promptKey, runKey } from '../../src/adapters/aws/table-keys.ts';
import { gunzip } from '../../src/adapters/local/gunzip.ts';
import {
  type BatchMessage,
  type BatchRecord,
  batchMessageSchema,
  batchRecordSchema,
} from '../../src/core/cloud/batch-record.ts';
import { type RunRecord, runRecordSchema } from '../../src/core/cloud/run-record.ts';
import { BUILTIN_TOOLS } from '../../src/core/tools/builtin-tools.ts';
import type { CloudResources } from './cloud-resources.ts';

const sha256Hex = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

/** Numbers without a batch, after which there is none any more. */
const GAP = 5;

export const STANDARD_CONFIG = { batch_size: 4, model: 'rehearsal' };

/** A starter over real adapters, with a clock of its own and calls to other functions noted. */
export function createStarter(resources: CloudResources, change: Partial<StarterDeps> = {}) {
  const { table, bucket, sqs, queueUrl } = resources;
  const calls: string[] = [];
  const lines: { message: string; fields: Record<string, unknown> }[] = [];
  let now = Date.parse('2026-01-01T00:00:00Z');
  const deps: StarterDeps = {
    claims: createPassClaims(table),
    files: createS3PassFiles(bucket),
    planned: createDynamoPlannedBatches(table),
    batches: createDynamoDispatchedBatches(table, randomUUID),
    queue: createSqsBatchQueue(sqs, queueUrl),
    outcomes: (run) => createDynamoPromptOutcomes(table, run),
    objects: (run) => createBucketWorkerObjects(bucket, run, sha256Hex),
    gunzip,
    sha256() {
      const hash = createHash('sha256');
      return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') };
    },
    sha256Hex,
    standardConfig: JSON.stringify(STANDARD_CONFIG),
    tools: BUILTIN_TOOLS,
    talaria: '0.0.0-test',
    node: process.version,
    now: () => now,
    newId: randomUUID,
    remainingMs: () => 900_000,
    log: (_level, message, fields) => lines.push({ message, fields }),
    countRefused: (run) => calls.push(`refused ${run}`),
    nudgeDispatcher: async () => void calls.push('nudge'),
    mergeRun: async (run) => void calls.push(`merge ${run}`),
    goOn: async (event) => void calls.push(`go on ${event.hops}`),
    ...change,
  };
  return {
    deps,
    calls,
    lines,
    /** Lets so many milliseconds pass. */
    pass(milliseconds: number): void {
      now += milliseconds;
    },
    start: (event: unknown) => start(event, deps),
  };
}

/** What the tests look at of a run in the cloud. */
export function createCloudView(resources: CloudResources) {
  const { table, bucket, sqs, queueUrl } = resources;
  let sequence = 0;
  return {
    /** Uploads and gives the event that tells it. */
    async upload(key: string, body: string | Uint8Array) {
      const { VersionId: versionId } = await bucket.client.send(
        new PutObjectCommand({ Bucket: bucket.name, Key: key, Body: body }),
      );
      sequence += 1;
      return s3Event(key, versionId, sequence.toString(16).toUpperCase().padStart(6, '0'));
    },
    async run(name: string): Promise<RunRecord> {
      const { Item } = await table.client.send(
        new GetCommand({ TableName: table.name, Key: runKey(name), ConsistentRead: true }),
      );
      return runRecordSchema.parse(Item);
    },
    async changeRun(name: string, change: Partial<RunRecord>): Promise<void> {
      const { Item } = await table.client.send(
        new GetCommand({ TableName: table.name, Key: runKey(name), ConsistentRead: true }),
      );
      await table.client.send(
        new PutCommand({ TableName: table.name, Item: { ...Item, ...change } }),
      );
    },
    /** By number. */
    async batches(name: string): Promise<BatchRecord[]> {
      const found: BatchRecord[] = [];
      for (let batch = 0, gap = 0; gap < GAP; batch += 1) {
        const { Item } = await table.client.send(
          new GetCommand({
            TableName: table.name,
            Key: batchKey(name, batch),
            ConsistentRead: true,
          }),
        );
        gap = Item === undefined ? gap + 1 : 0;
        if (Item !== undefined) found.push(batchRecordSchema.parse(Item));
      }
      return found;
    },
    /** All batches merged, the run done. */
    async endPass(name: string): Promise<void> {
      const batches = await this.batches(name);
      for (const batch of batches) {
        const Item = { ...batchKey(name, batch.batch), ...batch, state: 'merged', remaining: 0 };
        await table.client.send(new PutCommand({ TableName: table.name, Item }));
      }
      await this.changeRun(name, { state: 'done', batches_merged: batches.length });
    },
    async putOutcome(
      name: string,
      { hash, occurrence }: { hash: string; occurrence: number },
      outcome: string,
      attempt: number,
    ): Promise<void> {
      const of = { outcome, attempt, batch: 0, position: 0, sample_key: '' };
      await table.client.send(
        new PutCommand({
          TableName: table.name,
          Item: { ...promptKey(name, hash, occurrence), ...of },
        }),
      );
    },
    /** Undefined where there is no such object. */
    async text(key: string): Promise<string | undefined> {
      const answer = await bucket.client
        .send(new GetObjectCommand({ Bucket: bucket.name, Key: key }))
        .catch((error: Error) => {
          if (error.name === 'NoSuchKey') return undefined;
          throw error;
        });
      return await answer?.Body?.transformToString();
    },
    async put(key: string, body: string): Promise<void> {
      await bucket.client.send(new PutObjectCommand({ Bucket: bucket.name, Key: key, Body: body }));
    },
    /** A run's messages by batch; all that are there are taken out. */
    async messages(name: string): Promise<BatchMessage[]> {
      const found: BatchMessage[] = [];
      for (;;) {
        const { Messages = [] } = await sqs.send(
          new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
        );
        if (Messages.length === 0) break;
        found.push(...Messages.map(({ Body = '' }) => batchMessageSchema.parse(JSON.parse(Body))));
        await sqs.send(
          new DeleteMessageBatchCommand({
            QueueUrl: queueUrl,
            Entries: Messages.map(({ ReceiptHandle }, at) => ({ Id: String(at), ReceiptHandle })),
          }),
        );
      }
      return found.filter(({ run }) => run === name).sort((a, b) => a.batch - b.batch);
    },
  };
}

/** An event of the bucket as S3 sends it: the key encoded. */
export function s3Event(key: string, versionId: string | undefined, sequencer: string) {
  const encoded = encodeURIComponent(key).replaceAll('%20', '+').replaceAll('%2F', '/');
  return { Records: [{ s3: { object: { key: encoded, versionId, sequencer } } }] };
}

/** A dataset of rows. */
export function jsonl(...rows: object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
