import { createHash } from 'node:crypto';
import type { BatchRecord } from '../../core/cloud/batch-record.ts';
import type { LaunchEnd } from '../../core/cloud/launch-end.ts';
import type { LaunchRecord } from '../../core/cloud/launch-record.ts';
import { imageKeyOf } from './image-key.ts';
import type { Table } from './table.ts';
import { batchKey, DISPATCHER_KEY, launchKey, runKey } from './table-keys.ts';
import { type TransactItems, transact } from './transact.ts';

const FAILED = 'ConditionalCheckFailed';

export interface EndedLaunch {
  launch: LaunchRecord;
  end: LaunchEnd;
  /** The batch as it was read, where it is to change. */
  read: BatchRecord | undefined;
  newId: () => string;
}

/** Takes a launch away, lowers both counters, changes its batch: in one transaction. */
export async function endLaunchItems(
  table: Table,
  of: EndedLaunch,
): Promise<'ended' | 'gone' | 'changed'> {
  const { launch, end, read } = of;
  const TableName = table.name;
  const items: TransactItems = [
    {
      Delete: {
        TableName,
        Key: launchKey(launch.token),
        ConditionExpression: 'attribute_exists(pk)',
      },
    },
    runUpdate(TableName, launch, end),
    {
      Update: {
        TableName,
        Key: DISPATCHER_KEY,
        UpdateExpression: 'SET active = active - :one',
        ExpressionAttributeValues: { ':one': 1 },
      },
    },
    ...(end.change !== undefined && read !== undefined
      ? [batchUpdate(TableName, read, end.change)]
      : []),
    ...(end.image === 'keep' ? [] : [imageUpdate(TableName, launch, end.image)]),
  ];
  const token = createHash('sha256').update(of.newId()).digest('hex').slice(0, 36);
  const reasons = await transact(table, items, token);
  if (reasons === undefined) return 'ended';
  if (reasons[0] === FAILED) return 'gone';
  // Without an item of the image there is nothing to count.
  if (end.image !== 'keep' && reasons.at(-1) === FAILED) {
    return await endLaunchItems(table, { ...of, end: { ...end, image: 'keep' } });
  }
  return 'changed';
}

function runUpdate(TableName: string, launch: LaunchRecord, { run }: LaunchEnd) {
  const stops = {
    keep: '',
    reset: ', stops_unclaimed = :none',
    raise: ', stops_unclaimed = stops_unclaimed + :one',
  }[run];
  return {
    Update: {
      TableName,
      Key: runKey(launch.run_name),
      UpdateExpression: `SET active = active - :one${stops}`,
      ExpressionAttributeValues: { ':one': 1, ...(run === 'reset' && { ':none': 0 }) },
    },
  };
}

function batchUpdate(
  TableName: string,
  read: BatchRecord,
  change: NonNullable<LaunchEnd['change']>,
) {
  return {
    Update: {
      TableName,
      Key: batchKey(read.run_name, read.batch),
      UpdateExpression:
        'SET #state = :to, lease_until = :until, unclaimed = :unclaimed, careful = :careful, starts = :starts',
      // A worker that still writes has another `remaining` or other starts.
      ConditionExpression:
        '#state = :from AND launch = :launch AND remaining = :remaining AND starts = :read',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: {
        ':from': read.state,
        ':launch': read.launch,
        ':remaining': read.remaining,
        ':read': read.starts,
        ':to': change.state,
        ':until': change.lease_until,
        ':unclaimed': change.unclaimed,
        ':careful': change.careful,
        ':starts': change.starts,
      },
    },
  };
}

function imageUpdate(TableName: string, launch: LaunchRecord, change: 'raise' | 'reset') {
  const key = imageKeyOf(launch.run_name, launch.image);
  const values = change === 'raise' ? { ':one': 1 } : { ':none': 0 };
  return {
    Update: {
      TableName,
      Key: key,
      UpdateExpression:
        change === 'raise'
          ? 'SET failed_starts = failed_starts + :one'
          : 'SET failed_starts = :none',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: values,
    },
  };
}
