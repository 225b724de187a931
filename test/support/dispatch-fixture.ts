import { createHash, randomUUID } from 'node:crypto';
import { GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createBucketOldSamples } from '../../src/adapters/aws/bucket-old-samples.ts';
import { createBucketWorkerObjects } from '../../src/adapters/aws/bucket-worker-objects.ts';
import { createDynamoDispatchedBatches } from '../../src/adapters/aws/dynamo-dispatched-batches.ts';
import { createDynamoDispatchedRuns } from '../../src/adapters/aws/dynamo-dispatched-runs.ts';
import { createDynamoDispatcherLease } from '../../src/adapters/aws/dynamo-dispatcher-lease.ts';
import { createDynamoKnownDefinitions } from '../../src/adapters/aws/dynamo-known-definitions.ts';
import { createDynamoLaunches } from '../../src/adapters/aws/dynamo-launches.ts';
import { createSqsBatchInbox } from '../../src/adapters/aws/sqs-batch-inbox.ts';
import {
  attemptKey,
  batchKey,
  DISPATCHER_KEY,
  type ItemKey,
  livePk,
  promptKey,
  RUNS_PK,
  runKey,
} from '../../src/adapters/aws/table-keys.ts';
import { type BatchRecord, batchRecordSchema } from '../../src/core/cloud/batch-record.ts';
import type { DispatchDeps } from '../../src/core/cloud/dispatch/dispatch-deps.ts';
import { type RunRecord, runRecordSchema } from '../../src/core/cloud/run-record.ts';
import type { Fleet } from '../../src/core/ports/fleet.ts';
import type { ImageRegistry } from '../../src/core/ports/image-registry.ts';
import { type CloudResources, makeCloudResources } from './cloud-resources.ts';
import { BEGINNING } from './dispatch-records.ts';

/** Every image is there, small, and of amd64. */
export const WILLING_REGISTRY: ImageRegistry = {
  resolve: async (reference) => ({
    pinned: `${reference}@sha256:${'0'.repeat(64)}`,
    architecture: 'amd64',
    sizeBytes: 1_000,
  }),
};

export interface DispatchFixture {
  deps: DispatchDeps;
  resources: CloudResources;
  /** What the other functions were asked for, in order. */
  asked: string[];
  /** Lets time go by at once. */
  jump(milliseconds: number): void;
  putRun(run: RunRecord): Promise<void>;
  /** With its message, unless told otherwise. */
  putBatch(batch: BatchRecord, options?: { message?: boolean }): Promise<void>;
  send(batch: BatchRecord): Promise<void>;
  run(name: string): Promise<RunRecord>;
  batch(run: string, number: number): Promise<BatchRecord>;
  /** Sets fields of a batch, as a worker would. */
  set(run: string, number: number, fields: Partial<BatchRecord>): Promise<void>;
  attempts(run: string, number: number): Promise<Record<string, unknown>[]>;
  prompt(hash: string, run: string): Promise<Record<string, unknown> | undefined>;
  /** Launches of the stack, as counted. */
  active(): Promise<number>;
  messages(): Promise<number>;
}

/** The dispatcher over a table and a queue of its own, with time that is moved by hand. */
export async function makeDispatchFixture(
  endpoint: string,
  of: { fleet: Fleet; registry?: ImageRegistry; settings?: Partial<DispatchDeps['settings']> },
): Promise<DispatchFixture> {
  const resources = await makeCloudResources(endpoint, `talaria-${randomUUID()}`);
  const { table, sqs, queueUrl } = resources;
  const asked: string[] = [];
  let now = BEGINNING;
  let monotonic = 0;
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const newId = () => randomUUID();
  const inbox = createSqsBatchInbox(sqs, queueUrl);

  async function get(key: ItemKey) {
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.name, Key: key, ConsistentRead: true }),
    );
    return Item;
  }

  async function put(item: Record<string, unknown>) {
    await table.client.send(new PutCommand({ TableName: table.name, Item: item }));
  }

  function send({ run_name: run, pass, batch, image, prompts }: BatchRecord) {
    return inbox.send({ v: 1, run, pass, batch, image, prompts });
  }

  return {
    resources,
    asked,
    deps: {
      lease: createDynamoDispatcherLease(table),
      runs: createDynamoDispatchedRuns(table),
      batches: createDynamoDispatchedBatches(table, newId),
      launches: createDynamoLaunches(table, newId),
      definitions: createDynamoKnownDefinitions(table),
      fleet: of.fleet,
      inbox,
      registry: of.registry ?? WILLING_REGISTRY,
      functions: {
        resumePlanning: async (run) => void asked.push(`plan ${run}`),
        mergeBatch: async (run, batch) => void asked.push(`merge ${run} ${batch}`),
        mergeRun: async (run) => void asked.push(`merge ${run}`),
      },
      clock: {
        now: () => now,
        monotonic: () => monotonic,
        sleep: async (milliseconds) => {
          now += milliseconds;
          monotonic += milliseconds;
        },
      },
      settings: {
        maxTasks: 10,
        spot: false,
        defaultImage: 'registry.test/default:1',
        disk: 21,
        registrySecrets: {},
        sweepEveryMs: 0,
        unmergedMs: 5 * 60_000,
        task: {
          family: 'talaria',
          cpu: 1024,
          memory: 4096,
          taskRoleArn: 'arn:aws:iam::000000000000:role/task',
          executionRoleArn: 'arn:aws:iam::000000000000:role/execution',
          workerImages: { amd64: 'registry.test/worker:1' },
          secretArn: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:keys-AbCdEf',
          logGroup: '/talaria/tasks',
          region: 'us-east-1',
          agentEnv: { TABLE_NAME: table.name, BUCKET_NAME: table.name },
        },
        ...of.settings,
      },
      newId,
      sha256,
      oldSamples: createBucketOldSamples(resources.bucket),
      objects: (run) => createBucketWorkerObjects(resources.bucket, run, sha256),
      log: () => undefined,
    },
    jump(milliseconds) {
      now += milliseconds;
    },
    async putRun(run) {
      await put({ ...runKey(run.run_name), runs_pk: RUNS_PK, ...run });
    },
    async putBatch(batch, { message = true } = {}) {
      const { run_name: run, batch: number } = batch;
      await put({ ...batchKey(run, number), live_pk: livePk(run, number), ...batch });
      if (message) await send(batch);
    },
    async send(batch) {
      await send(batch);
    },
    run: async (name) => runRecordSchema.parse(await get(runKey(name))),
    batch: async (run, number) => batchRecordSchema.parse(await get(batchKey(run, number))),
    async set(run, number, fields) {
      const entries = Object.entries(fields);
      await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: batchKey(run, number),
          UpdateExpression: `SET ${entries.map((_, at) => `#${at} = :${at}`).join(', ')}`,
          ExpressionAttributeNames: Object.fromEntries(
            entries.map(([name], at) => [`#${at}`, name]),
          ),
          ExpressionAttributeValues: Object.fromEntries(
            entries.map(([, value], at) => [`:${at}`, value]),
          ),
        }),
      );
    },
    async attempts(run, number) {
      const { Items = [] } = await table.client.send(
        new QueryCommand({
          TableName: table.name,
          KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
          ExpressionAttributeValues: { ':pk': attemptKey(run, number, 0, 1).pk, ':sk': 'ATTEMPT#' },
        }),
      );
      return Items;
    },
    prompt: (hash, run) => get(promptKey(run, hash, 0)),
    active: async () => (await get(DISPATCHER_KEY))?.['active'] ?? 0,
    async messages() {
      let found = 0;
      for (;;) {
        const received = await inbox.receive(10, 0);
        if (received.length === 0) return found;
        found += received.length;
        for (const { handle } of received) await inbox.remove(handle);
      }
    },
  };
}
