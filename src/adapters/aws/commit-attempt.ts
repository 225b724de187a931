import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { attemptRecordSchema } from '../../core/cloud/attempt-record.ts';
import type { RecordedAttempt } from '../../core/ports/batch-work.ts';
import { lostBatch, type OwnedBatch, ownedUpdate, readOwned, tokenOf } from './owned-batch.ts';
import { attemptKey, promptKey } from './table-keys.ts';
import { type TransactItems, transact } from './transact.ts';

/** What becomes of the batch: it goes on, one prompt less is owed, or its last one has ended. */
type Form = 'goes_on' | 'ends_one' | 'ends_last';

/** Places of the items in the transaction: a cancelled one says which of them did not hold. */
const ATTEMPT = 1;
const PROMPT = 2;
const CONDITION_FAILED = 'ConditionalCheckFailed';

/**
 * Commits an attempt, with its prompt's end and the batch's count, in one transaction. Again with the
 * same, it changes nothing. Throws `LeaseLostError` where the batch is another's.
 */
export async function commitAttempt(
  of: OwnedBatch,
  recorded: RecordedAttempt,
  now: () => number,
): Promise<void> {
  const at = now();
  let withPrompt = recorded.ended !== undefined;
  for (;;) {
    const { remaining } = await readOwned(of);
    const form = formOf(recorded, remaining);
    const items = itemsOf(of, recorded, { form, withPrompt, now: at });
    const { position, entry } = recorded.attempt;
    const { attempt } = entry.timing;
    const parts = [of.run, of.batch, of.launch, position, attempt, form, withPrompt, at];
    const reasons = await transact(of.table, items, tokenOf(JSON.stringify(parts)));
    if (reasons === undefined || (await isThere(of, recorded))) return;
    if (reasons[ATTEMPT] === CONDITION_FAILED || !(await isMine(of))) throw await lostBatch(of);
    // The prompt was ended by another batch: its end stands, this attempt is kept beside it.
    if (reasons[PROMPT] === CONDITION_FAILED) withPrompt = false;
  }
}

function formOf({ ended }: RecordedAttempt, remaining: number): Form {
  if (ended === undefined) return 'goes_on';
  return remaining > 1 ? 'ends_one' : 'ends_last';
}

function itemsOf(
  of: OwnedBatch,
  { attempt, ended, prompt }: RecordedAttempt,
  { form, withPrompt, now }: { form: Form; withPrompt: boolean; now: number },
): TransactItems {
  const { run, batch, table } = of;
  const { position, entry } = attempt;
  const key = attemptKey(run, batch, position, entry.timing.attempt);
  const items: TransactItems = [
    batchUpdate(of, { form, position, now }),
    {
      Put: {
        TableName: table.name,
        Item: { ...key, ...attempt },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
  ];
  if (!withPrompt || ended === undefined) return items;
  const put = {
    TableName: table.name,
    Item: { ...promptKey(run, prompt.hash, prompt.occurrence), ...ended },
    // What is done is never done again; what failed may be.
    ConditionExpression: 'attribute_not_exists(pk) OR begins_with(outcome, :failed)',
    ExpressionAttributeValues: { ':failed': 'failed/' },
  };
  return [...items, { Put: put }];
}

/** Every attempt's end clears the prompt's count of starts without one. */
function batchUpdate(
  of: OwnedBatch,
  { form, position, now }: { form: Form; position: number; now: number },
): TransactItems[number] {
  const names = { '#position': String(position) };
  const cleared = 'REMOVE starts.#position';
  switch (form) {
    case 'goes_on':
      return ownedUpdate(of, { expression: cleared, values: {}, names });
    case 'ends_one':
      return ownedUpdate(of, {
        expression: `SET remaining = remaining - :one ${cleared}`,
        condition: 'remaining > :one',
        values: { ':one': 1 },
        names,
      });
    case 'ends_last':
      return ownedUpdate(of, {
        expression: `SET remaining = :none, #state = :closed, closed_at = :now, lease_until = :now ${cleared}`,
        condition: 'remaining = :one',
        values: { ':none': 0, ':one': 1, ':closed': 'closed', ':now': now },
        names,
      });
  }
}

async function isMine(of: OwnedBatch): Promise<boolean> {
  const { launch, state } = await readOwned(of);
  return launch === of.launch && state === 'running';
}

/** Whether an earlier try of this very write went through, without this process knowing it. */
async function isThere(of: OwnedBatch, { attempt }: RecordedAttempt): Promise<boolean> {
  const { position, entry, launch } = attempt;
  const key = attemptKey(of.run, of.batch, position, entry.timing.attempt);
  const { Item } = await of.table.client.send(
    new GetCommand({ TableName: of.table.name, Key: key, ConsistentRead: true }),
  );
  if (Item === undefined) return false;
  const there = attemptRecordSchema.parse(Item);
  return there.launch === launch && there.entry.timing.ended_at === entry.timing.ended_at;
}
