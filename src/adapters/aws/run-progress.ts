import { BatchGetCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { z } from 'zod';
import { BATCH_STATES, type BatchState } from '../../core/cloud/batch-record.ts';
import { type RunRecord, runRecordSchema } from '../../core/cloud/run-record.ts';
import { atOnce } from './at-once.ts';
import type { Table } from './table.ts';
import { batchKey, runKey } from './table-keys.ts';

/** How far a run is, by its batches. */
export interface RunProgress {
  run: RunRecord;
  batches: Record<BatchState, number>;
  prompts: { planned: number; ended: number };
}

const ITEMS_A_CALL = 100;
const CALLS_AT_ONCE = 8;
const TRIES = 10;
const FIRST_WAIT_MS = 50;

const countedSchema = z
  .object({
    batch: z.int().min(0),
    state: z.enum(BATCH_STATES),
    prompts: z.array(z.unknown()),
    remaining: z.int().min(0),
  })
  .transform(({ prompts, ...of }) => ({ ...of, planned: prompts.length }));
type Counted = z.infer<typeof countedSchema>;

export interface ProgressDeps {
  table: Table;
  sleep(milliseconds: number): Promise<void>;
}

/** Reads how far a run is, again and again; undefined where the table knows no such run. */
export function createRunProgressReader(
  runName: string,
  deps: ProgressDeps,
): () => Promise<RunProgress | undefined> {
  const { table } = deps;
  // Merged batches stay as they are: a run of a hundred thousand is not read whole each time.
  const merged = new Map<number, Counted>();

  return async () => {
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.name, Key: runKey(runName), ConsistentRead: true }),
    );
    if (Item === undefined) return undefined;
    const run = runRecordSchema.parse(Item);
    const open = Array.from({ length: run.batches_total }, (_, batch) => batch).filter(
      (batch) => !merged.has(batch),
    );
    const read = await atOnce(inCalls(open), CALLS_AT_ONCE, (numbers) =>
      readBatches(runName, numbers, deps),
    );
    for (const batch of read.flat()) if (batch.state === 'merged') merged.set(batch.batch, batch);
    const others = read.flat().filter(({ state }) => state !== 'merged');
    return progressOf(run, [...merged.values(), ...others]);
  };
}

function inCalls(numbers: readonly number[]): number[][] {
  return Array.from({ length: Math.ceil(numbers.length / ITEMS_A_CALL) }, (_, call) =>
    numbers.slice(call * ITEMS_A_CALL, (call + 1) * ITEMS_A_CALL),
  );
}

function progressOf(run: RunRecord, counted: readonly Counted[]): RunProgress {
  const batches = Object.fromEntries(BATCH_STATES.map((state) => [state, 0])) as Record<
    BatchState,
    number
  >;
  const prompts = { planned: 0, ended: 0 };
  for (const { state, planned, remaining } of counted) {
    batches[state] += 1;
    prompts.planned += planned;
    prompts.ended += planned - remaining;
  }
  return { run, batches, prompts };
}

async function readBatches(
  runName: string,
  numbers: readonly number[],
  { table, sleep }: ProgressDeps,
): Promise<Counted[]> {
  const found: Counted[] = [];
  let keys: Record<string, unknown>[] = numbers.map((number) => ({ ...batchKey(runName, number) }));
  for (let attempt = 1; keys.length > 0; attempt += 1) {
    const answer = await table.client.send(
      new BatchGetCommand({
        RequestItems: {
          [table.name]: {
            Keys: keys,
            ProjectionExpression: '#batch, #state, prompts, remaining',
            ExpressionAttributeNames: { '#batch': 'batch', '#state': 'state' },
          },
        },
      }),
    );
    for (const item of answer.Responses?.[table.name] ?? []) found.push(countedSchema.parse(item));
    keys = answer.UnprocessedKeys?.[table.name]?.Keys ?? [];
    if (keys.length === 0) break;
    if (attempt === TRIES) throw new Error(`the table is too busy to read run ${runName}`);
    await sleep(FIRST_WAIT_MS * 2 ** attempt);
  }
  return found;
}
