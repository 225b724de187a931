import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { fleetRecordSchema } from '../../core/cloud/launch-record.ts';
import type { DispatcherLease } from '../../core/ports/dispatcher-lease.ts';
import type { Table } from './table.ts';
import { DISPATCHER_KEY } from './table-keys.ts';
import { ifHeld } from './where-held.ts';

/** The dispatcher's lease in the table; the same item counts the launches of the stack. */
export function createDynamoDispatcherLease(table: Table): DispatcherLease {
  async function update(
    expression: string,
    condition: string,
    values: Record<string, unknown>,
  ): Promise<boolean> {
    return await ifHeld(() =>
      table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: DISPATCHER_KEY,
          UpdateExpression: expression,
          ...(condition !== '' && { ConditionExpression: condition }),
          ...(/#owner/.test(expression + condition) && {
            ExpressionAttributeNames: { '#owner': 'owner' },
          }),
          ExpressionAttributeValues: values,
        }),
      ),
    );
  }

  return {
    async read() {
      const { Item } = await table.client.send(
        new GetCommand({ TableName: table.name, Key: DISPATCHER_KEY, ConsistentRead: true }),
      );
      return fleetRecordSchema.parse(Item ?? {});
    },
    async acquire(owner, now, until) {
      for (;;) {
        const isMine = await update(
          'SET #owner = :owner, lease_until = :until, again = :no',
          'attribute_not_exists(lease_until) OR lease_until <= :now',
          { ':owner': owner, ':until': until, ':now': now, ':no': false },
        );
        if (isMine) return true;
        const isAsked = await update('SET again = :yes', 'lease_until > :now', {
          ':yes': true,
          ':now': now,
        });
        // Else it was given back in between.
        if (isAsked) return false;
      }
    },
    renew: (owner, until) =>
      update('SET lease_until = :until', '#owner = :owner AND lease_until > :none', {
        ':until': until,
        ':owner': owner,
        ':none': 0,
      }),
    async release(owner) {
      const isFree = await update('SET lease_until = :none', '#owner = :owner AND again = :no', {
        ':none': 0,
        ':owner': owner,
        ':no': false,
      });
      if (isFree) return true;
      // Where this fails too, the lease is another's by now: there is nothing to give back.
      return !(await update('SET again = :no', '#owner = :owner AND again = :yes', {
        ':owner': owner,
        ':no': false,
        ':yes': true,
      }));
    },
    async abandon(owner) {
      await update('SET lease_until = :none', '#owner = :owner', { ':none': 0, ':owner': owner });
    },
    async swept(what, now) {
      const field = what === 'runs' ? 'swept_at' : `${what}_swept_at`;
      await update(`SET ${field} = :now`, '', { ':now': now });
    },
  };
}
