import { createHash } from 'node:crypto';
import { paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type LaunchRecord, launchRecordSchema } from '../../core/cloud/launch-record.ts';
import type { ClaimRefusal, Launches } from '../../core/ports/launches.ts';
import { endLaunchItems } from './end-launch-items.ts';
import type { Table } from './table.ts';
import { batchKey, DISPATCHER_KEY, LAUNCH_PREFIX, launchKey, runKey } from './table-keys.ts';
import { type TransactItems, transact } from './transact.ts';
import { ifHeld } from './where-held.ts';

const FAILED = 'ConditionalCheckFailed';
const STATE = { '#state': 'state' };

/** Launches under way, in the table. */
export function createDynamoLaunches(table: Table, newId: () => string): Launches {
  const { client, name: TableName } = table;

  /** False where the launch has ended. */
  async function update(token: string, expression: string, values: Record<string, unknown>) {
    return await ifHeld(() =>
      client.send(
        new UpdateCommand({
          TableName,
          Key: launchKey(token),
          UpdateExpression: expression,
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeNames: expression.includes('#stop') ? { '#stop': 'stop' } : undefined,
          ExpressionAttributeValues: values,
        }),
      ),
    );
  }

  return {
    async list() {
      const pages = paginateQuery(
        { client },
        {
          TableName,
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
          ExpressionAttributeValues: { ':pk': DISPATCHER_KEY.pk, ':prefix': LAUNCH_PREFIX },
        },
      );
      const found: LaunchRecord[] = [];
      for await (const { Items = [] } of pages) {
        found.push(...Items.map((item) => launchRecordSchema.parse(item)));
      }
      return found;
    },
    async claim(launch, { until, maxTasks }) {
      const items: TransactItems = [
        {
          Update: {
            TableName,
            Key: batchKey(launch.run_name, launch.batch),
            UpdateExpression:
              'SET #state = :launching, launch = :launch, lease_until = :until, spot = :spot, task_arn = :none',
            ConditionExpression: '#state = :queued AND launch = :before',
            ExpressionAttributeNames: STATE,
            ExpressionAttributeValues: {
              ':launching': 'launching',
              ':queued': 'queued',
              ':launch': launch.launch,
              ':before': launch.launch - 1,
              ':until': until,
              ':spot': launch.spot,
              ':none': '',
            },
          },
        },
        {
          Update: {
            TableName,
            Key: runKey(launch.run_name),
            UpdateExpression: 'SET active = active + :one',
            ConditionExpression: '#state = :running AND active < num_workers',
            ExpressionAttributeNames: STATE,
            ExpressionAttributeValues: { ':one': 1, ':running': 'running' },
          },
        },
        {
          Update: {
            TableName,
            Key: DISPATCHER_KEY,
            UpdateExpression: 'SET active = if_not_exists(active, :none) + :one',
            ConditionExpression: 'attribute_not_exists(active) OR active < :most',
            ExpressionAttributeValues: { ':none': 0, ':one': 1, ':most': maxTasks },
          },
        },
        {
          Put: {
            TableName,
            Item: { ...launchKey(launch.token), ...launch },
            ConditionExpression: 'attribute_not_exists(pk)',
          },
        },
      ];
      const reasons = await transact(table, items, short(newId()));
      return reasons === undefined ? undefined : refusalOf(reasons);
    },
    async started(launch, taskArn) {
      const isUnderWay = {
        Update: {
          TableName,
          Key: launchKey(launch.token),
          UpdateExpression: 'SET task_arn = :arn',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':arn': taskArn },
        },
      };
      const isOfBatch = {
        Update: {
          TableName,
          Key: batchKey(launch.run_name, launch.batch),
          UpdateExpression: 'SET task_arn = :arn',
          ConditionExpression: 'launch = :launch',
          ExpressionAttributeValues: { ':arn': taskArn, ':launch': launch.launch },
        },
      };
      await transact(table, [isUnderWay, isOfBatch], short(newId()));
    },
    stopped: (token, stop) => update(token, 'SET #stop = :stop', { ':stop': stop }),
    async claimed(launch) {
      await update(launch.token, 'SET is_claimed = :yes', { ':yes': true });
      await client.send(
        new UpdateCommand({
          TableName,
          Key: runKey(launch.run_name),
          UpdateExpression: 'SET stops_unclaimed = :none',
          ExpressionAttributeValues: { ':none': 0 },
        }),
      );
    },
    end: (launch, end, read) => endLaunchItems(table, { launch, end, read, newId }),
  };
}

function refusalOf(reasons: readonly string[]): ClaimRefusal {
  if (reasons[0] === FAILED || reasons[3] === FAILED) return 'batch';
  return reasons[1] === FAILED ? 'run' : 'fleet';
}

/** The most that a transaction's token may have. */
function short(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 36);
}
