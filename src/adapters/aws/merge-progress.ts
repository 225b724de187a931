import { GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import { type AttemptRecord, attemptRecordSchema } from '../../core/cloud/attempt-record.ts';
import { batchRecordSchema } from '../../core/cloud/batch-record.ts';
import type { MergeProgress } from '../../core/ports/merge-progress.ts';
import { createMergeClaims } from './merge-claims.ts';
import { tokenOf } from './owned-batch.ts';
import type { Table } from './table.ts';
import { ATTEMPT_PREFIX, batchKey, runKey } from './table-keys.ts';
import { transact } from './transact.ts';

/** The merges of batches and runs as the table has them. */
export function createMergeProgress(table: Table): MergeProgress {
  const { client, name: TableName } = table;
  return {
    ...createMergeClaims(table),
    async batch(runName, batch) {
      const { Item } = await client.send(
        new GetCommand({ TableName, Key: batchKey(runName, batch), ConsistentRead: true }),
      );
      return Item === undefined ? undefined : batchRecordSchema.parse(Item);
    },
    async attempts(runName, batch) {
      const query = {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: {
          ':pk': batchKey(runName, batch).pk,
          ':prefix': ATTEMPT_PREFIX,
        },
      };
      const found: AttemptRecord[] = [];
      for await (const { Items = [] } of paginateQuery({ client }, query)) {
        found.push(...Items.map((item) => attemptRecordSchema.parse(item)));
      }
      return found;
    },
    async batchMerged(runName, batch) {
      const closed = {
        TableName,
        Key: batchKey(runName, batch),
        // It leaves the sparse index of live batches.
        UpdateExpression: 'SET #state = :merged REMOVE live_pk',
        ConditionExpression: '#state = :closed',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ':merged': 'merged', ':closed': 'closed' },
      };
      const counted = {
        TableName,
        Key: runKey(runName),
        UpdateExpression: 'ADD batches_merged :one',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':one': 1 },
      };
      const items = [{ Update: closed }, { Update: counted }];
      const reasons = await transact(table, items, tokenOf(`merged ${runName} ${batch}`));
      // No longer closed: another invocation has merged and counted it.
      if (reasons === undefined || reasons[0] === 'ConditionalCheckFailed') return;
      throw new Error(`batch ${batch} is merged, but there is no run ${runName} to count it`);
    },
  };
}
