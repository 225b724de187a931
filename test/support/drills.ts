import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  GetFunctionConfigurationCommand,
  InvokeCommand,
  LambdaClient,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import Docker from 'dockerode';
import { afterAll, beforeAll, expect } from 'vitest';
import {
  ATTEMPT_PREFIX,
  batchKey,
  type ItemKey,
  promptKey,
  runKey,
} from '../../src/adapters/aws/table-keys.ts';
import {
  type AttemptRecord,
  attemptRecordSchema,
  promptRecordSchema,
} from '../../src/core/cloud/attempt-record.ts';
import { type BatchRecord, batchRecordSchema } from '../../src/core/cloud/batch-record.ts';
import { uploadKeys } from '../../src/core/cloud/bucket-keys.ts';
import { type RunRecord, runRecordSchema } from '../../src/core/cloud/run-record.ts';
import { type Cloud, type Rows, useCloud } from './cloud-run.ts';
import { type DrillModel, startDrillModel } from './drill-model.ts';
import { type EmulatedTask, tasksOf } from './emulated-tasks.ts';
import { type HoldingProxy, startHoldingProxy } from './holding-proxy.ts';
import { expectSound, type StoredRun } from './run-files.ts';

const ENDED_MS = 420_000;
const SETTINGS = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
};

/** What the dataset of every drill asks for: a batch of two, and one of one. */
export const PROMPTS = ['anemone', 'buttercup', 'clover'] as const;
const CONFIG = {
  model: 'test/model',
  toolsets: ['terminal'],
  batch_size: 2,
  num_workers: 2,
  seed: 7,
  // So an attempt that is counted where none may be is its prompt's last.
  max_attempts: 1,
};

/** A run that has ended, as the table and the bucket have it. */
export interface EndedRun extends StoredRun {
  run: RunRecord;
  batches: BatchRecord[];
  /** Of each batch, in order of positions. */
  attempts: AttemptRecord[][];
  seconds: number;
}

interface Drills {
  readonly cloud: Cloud;
  readonly docker: Docker;
  readonly model: DrillModel;
  /** Uploads a dataset with its settings, as nothing but S3 does. */
  upload(run: string, more?: Rows): Promise<{ key: string; versionId: string }>;
  run(name: string): Promise<RunRecord | undefined>;
  batch(run: string, number: number): Promise<BatchRecord>;
  tasks(run: string): Promise<EmulatedTask[]>;
  /** Calls a function of the stack and gives its answer. */
  invoke(name: 'starter' | 'dispatcher', event: unknown): Promise<unknown>;
  /** Resolves when a worker of that batch asks to commit its first attempt, and gets no answer. */
  commitHeld(): Promise<void>;
  /** Waits until the run is done by itself; holds it to all that is true of every run. */
  ended(run: string): Promise<EndedRun>;
}

/** A stack whose tasks reach the table by a proxy that holds the first commit to the batch `held`. */
export function useDrills(stackName: string, held: ItemKey): Drills {
  const cloud = useCloud(stackName);
  const docker = new Docker();
  const uploadedAt = new Map<string, number>();
  let model: DrillModel;
  let proxy: HoldingProxy;
  let lambda: LambdaClient;
  let table: DynamoDBDocumentClient;

  beforeAll(async () => {
    const { endpoint } = cloud.stack.emulator;
    model = await startDrillModel();
    lambda = new LambdaClient({ ...SETTINGS, endpoint });
    table = DynamoDBDocumentClient.from(new DynamoDBClient({ ...SETTINGS, endpoint }));
    let isHeld = false;
    proxy = await startHoldingProxy(endpoint, ({ target, body }) => {
      const isCommit = target.endsWith('.TransactWriteItems') && body.includes(ATTEMPT_PREFIX);
      if (isHeld || !isCommit || !body.includes(`"${held.pk}"`)) return false;
      isHeld = true;
      return true;
    });
    await setEndpoint(lambda, cloud.stack.outputs.DispatcherName, proxy.endpoint);
  }, 60_000);
  afterAll(async () => {
    await proxy?.close();
    await model?.close();
  });

  const item = async (key: { pk: string; sk: string }) => {
    const TableName = cloud.stack.outputs.TableName;
    const { Item } = await table.send(
      new GetCommand({ TableName, Key: key, ConsistentRead: true }),
    );
    return Item;
  };
  const run: Drills['run'] = async (name) => {
    const found = await item(runKey(name));
    return found && runRecordSchema.parse(found);
  };
  const batch: Drills['batch'] = async (name, number) =>
    batchRecordSchema.parse(await item(batchKey(name, number)));

  async function attempts(name: string, number: number): Promise<AttemptRecord[]> {
    const { Items = [] } = await table.send(
      new QueryCommand({
        TableName: cloud.stack.outputs.TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk and begins_with(sk, :sk)',
        ExpressionAttributeValues: { ':pk': batchKey(name, number).pk, ':sk': ATTEMPT_PREFIX },
      }),
    );
    return Items.map((of) => attemptRecordSchema.parse(of));
  }

  async function untilDone(name: string): Promise<RunRecord> {
    const from = performance.now();
    let seen: RunRecord | undefined;
    while (performance.now() - from < ENDED_MS) {
      seen = await run(name);
      if (seen?.state === 'done') return seen;
      await pause(500);
    }
    const logs = (await cloud.logs()).split('\n').filter((line) => line.includes(name));
    throw new Error(`${name} is not done: ${JSON.stringify(seen)}\n${logs.slice(-40).join('\n')}`);
  }

  return {
    cloud,
    docker,
    get model() {
      return model;
    },
    async upload(name, more = []) {
      const { bucket } = cloud;
      const put = (Key: string, Body: string) =>
        bucket.client.send(new PutObjectCommand({ Bucket: bucket.name, Key, Body }));
      const keys = uploadKeys(name);
      const rows = [...PROMPTS.map((prompt) => ({ prompt })), ...more];
      await put(keys.config, JSON.stringify({ ...CONFIG, base_url: model.baseUrl(name) }));
      const key = keys.dataset('flowers.jsonl');
      uploadedAt.set(name, performance.now());
      const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
      const { VersionId: versionId = '' } = await put(key, text);
      return { key, versionId };
    },
    run,
    batch,
    tasks: (name) => tasksOf(docker, cloud.stack.emulator.endpoint, name),
    async invoke(name, event) {
      const { StarterName: starter, DispatcherName: dispatcher } = cloud.stack.outputs;
      const FunctionName = { starter, dispatcher }[name];
      const Payload = JSON.stringify(event);
      const answer = await lambda.send(new InvokeCommand({ FunctionName, Payload }));
      const text = answer.Payload?.transformToString() ?? 'null';
      expect(answer.FunctionError, text).toBeUndefined();
      return JSON.parse(text);
    },
    commitHeld: () => proxy.held,
    async ended(name) {
      const record = await untilDone(name);
      const seconds = (performance.now() - (uploadedAt.get(name) ?? 0)) / 1000;
      const numbers = Array.from({ length: record.batches_total }, (_, number) => number);
      const batches = await Promise.all(numbers.map((number) => batch(name, number)));
      const ofBatches = await Promise.all(numbers.map((number) => attempts(name, number)));
      for (const { state, prompts, batch: number } of batches) {
        expect(state).toBe('merged');
        // One attempt a prompt, and it is the prompt's end: nothing was finished twice.
        const positions = ofBatches[number]?.map(({ position }) => position);
        expect(positions).toEqual(prompts.map((_, position) => position));
        for (const [position, { hash, occurrence }] of prompts.entries()) {
          const end = promptRecordSchema.parse(await item(promptKey(name, hash, occurrence)));
          expect(end).toMatchObject({ batch: number, position, attempt: 1 });
        }
      }
      const stored = expectSound(await cloud.download(name));
      const { planned, pending, withdrawn } = stored.statistics.coverage;
      const prompts = batches.flatMap((of) => of.prompts).length;
      expect({ planned, pending, withdrawn }).toEqual({
        planned: prompts,
        pending: 0,
        withdrawn: 0,
      });
      return { ...stored, run: record, batches, attempts: ofBatches, seconds };
    },
  };
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((go) => setTimeout(go, milliseconds));
}

/** What `read` gives once it gives something. */
export async function eventually<T>(read: () => Promise<T | undefined>, every = 100): Promise<T> {
  const from = performance.now();
  while (performance.now() - from < ENDED_MS) {
    const value = await read();
    if (value !== undefined) return value;
    await pause(every);
  }
  throw new Error(`not so within ${ENDED_MS / 1000} s`);
}

/** Of a function, for its clients and for the tasks that it starts. */
async function setEndpoint(lambda: LambdaClient, FunctionName: string, endpoint: string) {
  const of = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
  const Variables = { ...of.Environment?.Variables, AWS_ENDPOINT_URL: endpoint };
  await lambda.send(
    new UpdateFunctionConfigurationCommand({ FunctionName, Environment: { Variables } }),
  );
}
