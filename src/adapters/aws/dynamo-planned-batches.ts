import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { batchRecordSchema } from '../../core/cloud/batch-record.ts';
import type { PlannedBatches } from '../../core/ports/planned-batches.ts';
import type { Table } from './table.ts';
import { batchKey, livePk } from './table-keys.ts';

/** More than a planner puts at once: its items have no longer gap. */
const LOOKED_AHEAD = 64;

/** Batch items as a planner puts them. */
export function createDynamoPlannedBatches(table: Table): PlannedBatches {
  const { client, name: TableName } = table;

  async function passOf(run: string, batch: number): Promise<number | undefined> {
    const { Item } = await client.send(
      new GetCommand({ TableName, Key: batchKey(run, batch), ConsistentRead: true }),
    );
    return Item === undefined ? undefined : batchRecordSchema.parse(Item).pass;
  }

  async function remove(run: string, batch: number, pass: number): Promise<void> {
    await held(() =>
      client.send(
        new DeleteCommand({
          TableName,
          Key: batchKey(run, batch),
          ConditionExpression: '#pass < :pass',
          ExpressionAttributeNames: { '#pass': 'pass' },
          ExpressionAttributeValues: { ':pass': pass },
        }),
      ),
    );
  }

  return {
    put: (batch) =>
      held(() =>
        client.send(
          new PutCommand({
            TableName,
            Item: {
              ...batchKey(batch.run_name, batch.batch),
              ...batch,
              live_pk: livePk(batch.run_name, batch.batch),
            },
            ConditionExpression: 'attribute_not_exists(pk) OR #pass < :pass',
            ExpressionAttributeNames: { '#pass': 'pass' },
            ExpressionAttributeValues: { ':pass': batch.pass },
          }),
        ),
      ),
    async removeFrom(run, batch, pass) {
      for (let from = batch; ; from += LOOKED_AHEAD) {
        const numbers = Array.from({ length: LOOKED_AHEAD }, (_, at) => from + at);
        const passes = await Promise.all(numbers.map((number) => passOf(run, number)));
        const left = numbers.filter((_, at) => passes[at] !== undefined);
        if (left.length === 0) return;
        await Promise.all(left.map((number) => remove(run, number, pass)));
      }
    },
  };
}

async function held(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
