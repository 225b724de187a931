import { createHash } from 'node:crypto';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { batchKey, livePk, promptKey, RUNS_PK, runKey } from '../../src/adapters/aws/table-keys.ts';
import { type BatchRecord, batchRecordSchema } from '../../src/core/cloud/batch-record.ts';
import { runKeys } from '../../src/core/cloud/bucket-keys.ts';
import { type RunRecord, runRecordSchema } from '../../src/core/cloud/run-record.ts';
import { parseDatasetRow } from '../../src/core/dataset/dataset-row.ts';
import { promptHash } from '../../src/core/dataset/prompt-id.ts';
import { type RunFile, storedSettings } from '../../src/core/run/manifest.ts';
import { runConfigSchema } from '../../src/core/run/run-config.ts';
import { BUILTIN_TOOLS } from '../../src/core/tools/builtin-tools.ts';
import { TOOL_NAMES } from '../../src/core/toolsets/registry.ts';
import type { CloudResources } from './cloud-resources.ts';

export const sha256Hex = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

export interface CloudBatch {
  run: string;
  batch: number;
  /** As `RunTask` would find it: claimed by nobody yet. */
  launch(number: number, changes?: Partial<BatchRecord>): Promise<void>;
  record(): Promise<BatchRecord>;
  runRecord(): Promise<RunRecord>;
  /** Items of prompts that have ended, by position. */
  ended(): Promise<(Record<string, unknown> | undefined)[]>;
  setRun(changes: Partial<RunRecord>): Promise<void>;
}

/** One planned batch of these rows in table and bucket, and its run. */
export async function planBatch(
  { table, bucket }: CloudResources,
  of: {
    run: string;
    rows: readonly object[];
    config?: Record<string, unknown>;
    secret?: Record<string, unknown>;
  },
): Promise<CloudBatch> {
  const { run } = of;
  const batch = 0;
  const keys = runKeys(run);
  const lines = of.rows.map((row) => JSON.stringify(row));
  await put(keys.input(1), `${lines.join('\n')}\n`);
  await put(keys.manifest, JSON.stringify(runFile(run, of.config ?? {})));
  if (of.secret !== undefined) await put(keys.privateFile, JSON.stringify(of.secret));
  const seen = new Map<string, number>();
  let offset = 0;
  const prompts = lines.map((line, index) => {
    const parsed = parseDatasetRow(line);
    if (!parsed.ok) throw new Error(parsed.reason);
    const hash = promptHash(parsed.row, sha256Hex);
    const occurrence = seen.get(hash) ?? 0;
    seen.set(hash, occurrence + 1);
    const length = Buffer.byteLength(line);
    const at = offset;
    offset += length + 1;
    return { index, sample: 0, hash, occurrence, offset: at, length, attempts_before: 0 };
  });
  const upload = { key: 'x', version_id: 'x', sequencer: '', config_version_id: '' };
  const runRecord: RunRecord = runRecordSchema.parse({
    run_name: run,
    state: 'running',
    reason: '',
    pass: 1,
    dataset: upload,
    next_dataset: null,
    sequencers: {},
    planner: null,
    num_workers: 4,
    max_attempts: 3,
    batches_total: 1,
    batches_merged: 0,
    active: 1,
    stops_unclaimed: 0,
    merge_lease_until: 0,
    started_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
  });
  const record: BatchRecord = {
    run_name: run,
    batch,
    pass: 1,
    state: 'queued',
    image: '',
    prompts,
    remaining: prompts.length,
    unfinished: 0,
    launch: 0,
    lease_until: 0,
    task_arn: '',
    spot: false,
    unclaimed: 0,
    starts: {},
    careful: false,
    queued_at: 0,
    closed_at: 0,
  };
  await putItem({ ...runKey(run), runs_pk: RUNS_PK, ...runRecord });
  await putItem({ ...batchKey(run, batch), live_pk: livePk(run, batch), ...record });

  async function put(Key: string, Body: string) {
    await bucket.client.send(new PutObjectCommand({ Bucket: bucket.name, Key, Body }));
  }
  async function putItem(Item: Record<string, unknown>) {
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
  }
  async function item(Key: Record<string, unknown>) {
    const get = new GetCommand({ TableName: table.name, Key, ConsistentRead: true });
    return (await table.client.send(get)).Item;
  }
  async function change(key: object, changes: object) {
    const all = Object.entries(changes);
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: { ...key },
        UpdateExpression: `SET ${all.map((_, at) => `#n${at} = :v${at}`).join(', ')}`,
        ExpressionAttributeNames: Object.fromEntries(all.map(([name], at) => [`#n${at}`, name])),
        ExpressionAttributeValues: Object.fromEntries(all.map(([, to], at) => [`:v${at}`, to])),
      }),
    );
  }

  return {
    run,
    batch,
    launch: (number, changes = {}) =>
      change(batchKey(run, batch), {
        state: 'launching',
        launch: number,
        lease_until: Date.now() + 900_000,
        ...changes,
      }),
    record: async () => batchRecordSchema.parse(await item({ ...batchKey(run, batch) })),
    runRecord: async () => runRecordSchema.parse(await item({ ...runKey(run) })),
    ended: () =>
      Promise.all(
        prompts.map(({ hash, occurrence }) => item({ ...promptKey(run, hash, occurrence) })),
      ),
    setRun: (changes) => change(runKey(run), changes),
  };
}

function runFile(run: string, settings: Record<string, unknown>): RunFile {
  const config = runConfigSchema.parse({
    dataset_file: 'prompts.jsonl',
    batch_size: 8,
    run_name: run,
    model: 'rehearsal',
    toolsets: ['terminal', 'file'],
    ...settings,
  });
  return {
    ...storedSettings(config),
    manifest: {
      version: 1,
      talaria: '0',
      node: '22',
      created_at: '2026-01-01T00:00:00.000Z',
      rehearsal: config.model === 'rehearsal',
      sandbox: 'docker',
      images: {},
      ephemeral_system_prompt_sha256: '',
      prefill_messages_sha256: '',
      distribution: { name: '', toolsets: { terminal: 100, file: 100 } },
      available_toolsets: ['terminal', 'file'],
      tools: Object.values(BUILTIN_TOOLS).map((tool) => tool.schema),
      valid_tool_names: [...TOOL_NAMES],
    },
    passes: [
      {
        pass: 1,
        started_at: '2026-01-01T00:00:00.000Z',
        dataset_file: 'prompts.jsonl',
        dataset_sha256: '',
        rows: 1,
        invalid_rows: 0,
        input_of_pass: 1,
        samples_per_prompt: 1,
        max_samples: null,
      },
    ],
  };
}
