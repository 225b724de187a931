import { createHash } from 'node:crypto';
import type { BatchRecord } from '../../core/cloud/batch-record.ts';
import type { PromptEnd } from '../../core/cloud/ended-without-task.ts';
import type { BatchClosing } from '../../core/ports/dispatched-batches.ts';
import type { Table } from './table.ts';
import { attemptKey, batchKey, promptKey } from './table-keys.ts';
import { type TransactItems, transact } from './transact.ts';

const FAILED = 'ConditionalCheckFailed';

/** Condition on a batch that is as it was read; `#state` is its state. */
export const AS_READ = '#state = :state AND launch = :launch AND lease_until = :read_until';

/** Values of `AS_READ`. */
export function asRead(read: BatchRecord) {
  return { ':state': read.state, ':launch': read.launch, ':read_until': read.lease_until };
}

/**
 * Closes a batch that no task has, with the ends of all that it owed, in one transaction; false where
 * it is not as it was read.
 */
export async function closeBatchItem(
  table: Table,
  of: { read: BatchRecord; closing: BatchClosing; now: number; newId: () => string },
): Promise<boolean> {
  const { read, now } = of;
  const { ends, unfinished } = of.closing;
  const update: TransactItems[number] = {
    Update: {
      TableName: table.name,
      Key: batchKey(read.run_name, read.batch),
      UpdateExpression:
        'SET #state = :closed, remaining = :none, unfinished = :unfinished, closed_at = :now, lease_until = :now',
      ConditionExpression: AS_READ,
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: {
        ...asRead(read),
        ':closed': 'closed',
        ':none': 0,
        ':unfinished': unfinished,
        ':now': now,
      },
    },
  };
  // A prompt that is done by another way keeps its outcome.
  let open = ends.filter(({ prompt }) => prompt !== undefined);
  for (;;) {
    const items = [
      update,
      ...ends.map((end) => putAttempt(table.name, read, end)),
      ...open.map((end) => putPrompt(table.name, read, end)),
    ];
    const reasons = await transact(table, items, tokenOf(of.newId()));
    if (reasons === undefined) return true;
    const stillOpen = open.filter((_, at) => reasons[1 + ends.length + at] !== FAILED);
    if (reasons[0] === FAILED || stillOpen.length === open.length) return false;
    open = stillOpen;
  }
}

function putAttempt(TableName: string, { run_name, batch }: BatchRecord, end: PromptEnd) {
  const { attempt } = end;
  const number = attempt.entry.timing.attempt;
  return {
    Put: {
      TableName,
      Item: { ...attemptKey(run_name, batch, attempt.position, number), ...attempt },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  };
}

function putPrompt(TableName: string, { run_name }: BatchRecord, end: PromptEnd) {
  return {
    Put: {
      TableName,
      Item: { ...promptKey(run_name, end.hash, end.occurrence), ...end.prompt },
      ConditionExpression: 'attribute_not_exists(pk) OR begins_with(outcome, :failed)',
      ExpressionAttributeValues: { ':failed': 'failed/' },
    },
  };
}

/** The most that a transaction's token may have. */
function tokenOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 36);
}
