import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { batchRecordSchema } from '../../core/cloud/batch-record.ts';
import type { PlannedBatches } from '../../core/ports/planned-batches.ts';
import { getItems, MOST_ITEMS } from './get-items.ts';
import type { Table } from './table.ts';
import { batchKey, livePk } from './table-keys.ts';
import { whereHeld } from './where-held.ts';

/** Batch items as a planner puts them. */
export function createDynamoPlannedBatches(table: Table): PlannedBatches {
  const { client, name: TableName } = table;

  async function remove(run: string, batch: number, pass: number): Promise<void> {
    await whereHeld(() =>
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
      whereHeld(() =>
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
      // More than a planner puts at once: its items have no longer gap.
      for (let from = batch; ; from += MOST_ITEMS) {
        const keys = Array.from({ length: MOST_ITEMS }, (_, at) => batchKey(run, from + at));
        const left = (await getItems(table, keys)).map((item) => batchRecordSchema.parse(item));
        if (left.length === 0) return;
        await Promise.all(left.map((of) => remove(run, of.batch, pass)));
      }
    },
  };
}
