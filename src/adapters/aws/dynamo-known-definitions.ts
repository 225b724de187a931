import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { z } from 'zod';
import type { KnownDefinitions } from '../../core/ports/known-definitions.ts';
import type { Table } from './table.ts';
import { taskDefinitionKey } from './table-keys.ts';
import { ifHeld } from './where-held.ts';

const recordSchema = z.object({ arn: z.string(), used_at: z.int().min(0) });

/** Task definitions that were registered: `TASKDEF#<content hash>` / `TASKDEF`. */
export function createDynamoKnownDefinitions(table: Table): KnownDefinitions {
  const { client, name: TableName } = table;

  async function find(hash: string) {
    const { Item } = await client.send(
      new GetCommand({ TableName, Key: taskDefinitionKey(hash), ConsistentRead: true }),
    );
    if (Item === undefined) return undefined;
    const { arn, used_at: usedAt } = recordSchema.parse(Item);
    return { arn, usedAt };
  }

  return {
    find,
    async keep(hash, arn, now) {
      const isKept = await ifHeld(() =>
        client.send(
          new PutCommand({
            TableName,
            Item: { ...taskDefinitionKey(hash), arn, used_at: now },
            ConditionExpression: 'attribute_not_exists(pk)',
          }),
        ),
      );
      return isKept ? arn : ((await find(hash))?.arn ?? arn);
    },
    async used(hash, now) {
      await ifHeld(() =>
        client.send(
          new UpdateCommand({
            TableName,
            Key: taskDefinitionKey(hash),
            UpdateExpression: 'SET used_at = :now',
            ConditionExpression: 'attribute_exists(pk)',
            ExpressionAttributeValues: { ':now': now },
          }),
        ),
      );
    },
    async forget(hash, usedAt) {
      return await ifHeld(() =>
        client.send(
          new DeleteCommand({
            TableName,
            Key: taskDefinitionKey(hash),
            ConditionExpression: 'attribute_not_exists(pk) OR used_at <= :used',
            ExpressionAttributeValues: { ':used': usedAt },
          }),
        ),
      );
    },
  };
}
