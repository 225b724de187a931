import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Bucket } from '../../src/adapters/aws/bucket.ts';
import type { Table } from '../../src/adapters/aws/table.ts';
import { attemptKey, batchKey, livePk, runKey } from '../../src/adapters/aws/table-keys.ts';
import type { BatchRecord, PromptReference } from '../../src/core/cloud/batch-record.ts';
import { runKeys } from '../../src/core/cloud/bucket-keys.ts';
import type { RunRecord } from '../../src/core/cloud/run-record.ts';
import { type LedgerEntry, ledgerEntryOf } from '../../src/core/run/ledger-entry.ts';
import type { RunFile } from '../../src/core/run/manifest.ts';
import { type PlannedPrompt, planBatches } from '../../src/core/run/plan-batches.ts';
import type { Outcome } from '../../src/core/trajectory/outcome.ts';
import { trajectoryLine } from '../../src/core/trajectory/trajectory.ts';
import { putObject } from './bucket-objects.ts';
import { CREATED, playedPlan, playedRow, playedRunFile } from './played-run.ts';

/** One prompt, and how each of its attempts ended; `without_row` for one that no worker ran. */
export interface PlayedPrompt {
  row: { prompt: string; image?: string } & Record<string, unknown>;
  attempts: (Outcome | { without_row: Outcome })[];
  /** Bytes that its rows have at least. */
  rowBytes?: number;
}

export interface ClosedRun {
  runName: string;
  batches: number;
  runFile: RunFile;
  /** The ledger as the merge is to have it. */
  entries: LedgerEntry[];
  sampleKeys: string[];
}

interface Resources {
  table: Table;
  bucket: Bucket;
}

/** Stores a run as planner and workers leave it when the last prompt has ended: all batches closed. */
export async function storeClosedRun(
  cloud: Resources,
  runName: string,
  prompts: readonly PlayedPrompt[],
  { batchSize = 2, unfinished = 0 } = {},
): Promise<ClosedRun> {
  const keys = runKeys(runName);
  const lines = prompts.map(({ row }) => `${JSON.stringify(row)}\n`);
  await putObject(cloud.bucket, keys.input(1), lines.join(''));
  const { runFile, draw } = playedRunFile(runName, lines);
  await putObject(cloud.bucket, keys.manifest, JSON.stringify(runFile));
  const run: ClosedRun = { runName, batches: 0, runFile, entries: [], sampleKeys: [] };
  for await (const { image, prompts: planned } of planBatches(
    playedPlan(lines),
    batchSize,
    () => false,
  )) {
    const batch = run.batches;
    for (const [position, prompt] of planned.entries()) {
      const of = prompts[prompt.promptIndex];
      if (of === undefined) throw new Error('a prompt that nobody plays');
      await storeAttempts(cloud, run, { batch, position, prompt, draw, of });
    }
    const record = {
      ...closedBatch(runName, batch),
      image,
      prompts: planned.map((prompt) => referenceOf(prompt, lines)),
      remaining: unfinished,
      unfinished,
    };
    const key = { ...batchKey(runName, batch), live_pk: livePk(runName, batch) };
    await putItem(cloud.table, { ...key, ...record });
    run.batches += 1;
  }
  await putItem(cloud.table, { ...runKey(runName), ...runRecord(runName, run.batches) });
  return run;
}

interface Place {
  batch: number;
  position: number;
  prompt: PlannedPrompt;
  draw(promptId: string): string[];
  of: PlayedPrompt;
}

async function storeAttempts(
  { table, bucket }: Resources,
  run: ClosedRun,
  { batch, position, prompt, draw, of: { attempts, rowBytes = 0 } }: Place,
): Promise<void> {
  const toolsets = draw(prompt.promptId);
  for (const [at, end] of attempts.entries()) {
    const attempt = at + 1;
    const hasRow = typeof end === 'string';
    const outcome = hasRow ? end : end.without_row;
    const row = playedRow(run.runFile, { batch, outcome, attempt, prompt, toolsets, rowBytes });
    const entry = ledgerEntryOf(row, 1, false);
    run.entries.push(entry);
    const sampleKey = hasRow ? runKeys(run.runName).sample(batch, position, attempt) : '';
    if (hasRow) {
      run.sampleKeys.push(sampleKey);
      await putObject(bucket, sampleKey, `${trajectoryLine(row)}\n`);
    }
    await putItem(table, {
      ...attemptKey(run.runName, batch, position, attempt),
      position,
      launch: attempt,
      sample_key: sampleKey,
      entry: hasRow ? entry : { ...entry, toolsets: [] },
    });
  }
}

function referenceOf(
  { promptId, promptIndex, sample }: PlannedPrompt,
  lines: readonly string[],
): PromptReference {
  const [hash = '', occurrence] = promptId.split('-');
  return {
    index: promptIndex,
    sample,
    hash,
    occurrence: Number(occurrence),
    offset: Buffer.byteLength(lines.slice(0, promptIndex).join('')),
    length: Buffer.byteLength(lines[promptIndex] ?? '') - 1,
    attempts_before: 0,
  };
}

function closedBatch(
  runName: string,
  batch: number,
): Omit<BatchRecord, 'image' | 'prompts' | 'remaining' | 'unfinished'> {
  return {
    run_name: runName,
    batch,
    pass: 1,
    state: 'closed',
    launch: 1,
    lease_until: 0,
    task_arn: '',
    spot: false,
    unclaimed: 0,
    starts: {},
    careful: false,
    queued_at: 0,
    closed_at: 1,
  };
}

export function runRecord(runName: string, batches: number): RunRecord {
  return {
    run_name: runName,
    state: 'running',
    reason: '',
    pass: 1,
    dataset: upload(`datasets/${runName}/prompts.jsonl`, 'v1'),
    next_dataset: null,
    sequencers: {},
    planner: null,
    num_workers: 4,
    max_attempts: 3,
    model: 'rehearsal',
    default_image: '',
    batches_total: batches,
    batches_merged: 0,
    active: 0,
    stops_unclaimed: 0,
    merge_lease_until: 0,
    started_at: CREATED,
    updated_at: CREATED,
  };
}

export function upload(key: string, version: string) {
  return { key, version_id: version, sequencer: '01', config_version_id: '' };
}

export async function putItem(table: Table, Item: Record<string, unknown>): Promise<void> {
  await table.client.send(new PutCommand({ TableName: table.name, Item }));
}
