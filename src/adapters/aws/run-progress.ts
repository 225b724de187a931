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

const countedSchema = z.object({
  state: z.enum(BATCH_STATES),
  prompts: z.array(z.unknown()),
  remaining: z.int().min(0),
});
type Counted = z.infer<typeof countedSchema>;

/** Undefined where the table knows no such run. */
export async function readRunProgress(
  table: Table,
  runName: string,
  sleep: (milliseconds: number) => Promise<void>,
): Promise<RunProgress | undefined> {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: runKey(runName), ConsistentRead: true }),
  );
  if (Item === undefined) return undefined;
  const run = runRecordSchema.parse(Item);
  const calls = Array.from({ length: Math.ceil(run.batches_total / ITEMS_A_CALL) }, (_, call) =>
    Array.from(
      { length: Math.min(ITEMS_A_CALL, run.batches_total - call * ITEMS_A_CALL) },
      (_, at) => call * ITEMS_A_CALL + at,
    ),
  );
  const batches = Object.fromEntries(BATCH_STATES.map((state) => [state, 0])) as Record<
    BatchState,
    number
  >;
  const prompts = { planned: 0, ended: 0 };
  await atOnce(calls, CALLS_AT_ONCE, async (numbers) => {
    for (const batch of await readBatches(table, runName, numbers, sleep)) {
      batches[batch.state] += 1;
      prompts.planned += batch.prompts.length;
      prompts.ended += batch.prompts.length - batch.remaining;
    }
  });
  return { run, batches, prompts };
}

async function readBatches(
  table: Table,
  runName: string,
  numbers: readonly number[],
  sleep: (milliseconds: number) => Promise<void>,
): Promise<Counted[]> {
  const found: Counted[] = [];
  let keys: Record<string, unknown>[] = numbers.map((number) => ({ ...batchKey(runName, number) }));
  for (let attempt = 1; keys.length > 0; attempt += 1) {
    const answer = await table.client.send(
      new BatchGetCommand({
        RequestItems: {
          [table.name]: {
            Keys: keys,
            ProjectionExpression: '#state, prompts, remaining',
            ExpressionAttributeNames: { '#state': 'state' },
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
