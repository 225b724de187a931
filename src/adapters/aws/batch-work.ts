import { GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import { type AttemptRecord, attemptRecordSchema } from '../../core/cloud/attempt-record.ts';
import { LEASE_MS } from '../../core/cloud/hold-lease.ts';
import { runRecordSchema } from '../../core/cloud/run-record.ts';
import { type BatchWork, LeaseLostError } from '../../core/ports/batch-work.ts';
import type { Clock } from '../../core/ports/clock.ts';
import { commitAttempt } from './commit-attempt.ts';
import {
  lostBatch,
  type OwnedBatch,
  type OwnedUpdate,
  ownedUpdate,
  readOwned,
  tokenOf,
} from './owned-batch.ts';
import { ATTEMPT_PREFIX, batchKey, runKey } from './table-keys.ts';
import { transact } from './transact.ts';

export interface BatchWorkDeps extends OwnedBatch {
  clock: Pick<Clock, 'now'>;
  /** A text that no other process has, for writes that must not be done twice. */
  uniqueId(): string;
}

/** One launch's work on its batch, in the table. */
export function createBatchWork(deps: BatchWorkDeps): BatchWork {
  const { table, clock, run } = deps;
  let last: Promise<unknown> = Promise.resolve();
  let lost: LeaseLostError | undefined;

  /** One write at a time, none after the batch was lost. */
  function inTurn<T>(write: () => Promise<T>): Promise<T> {
    const turn = last.then(async () => {
      if (lost !== undefined) throw lost;
      return await write();
    });
    last = turn.catch((error: unknown) => {
      if (error instanceof LeaseLostError) lost ??= error;
    });
    return turn;
  }

  async function update(how: OwnedUpdate): Promise<void> {
    const reasons = await transact(table, [ownedUpdate(deps, how)], tokenOf(deps.uniqueId()));
    if (reasons !== undefined) throw await lostBatch(deps);
  }

  return {
    batch: () => readOwned(deps),
    async attempts() {
      const query = {
        TableName: table.name,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: {
          ':pk': batchKey(run, deps.batch).pk,
          ':prefix': ATTEMPT_PREFIX,
        },
      };
      const found: AttemptRecord[] = [];
      for await (const { Items = [] } of paginateQuery({ client: table.client }, query)) {
        found.push(...Items.map((item) => attemptRecordSchema.parse(item)));
      }
      return found;
    },
    claim: () =>
      inTurn(() =>
        update({
          expression: 'SET #state = :running, lease_until = :until, unclaimed = :none',
          values: { ':running': 'running', ':until': clock.now() + LEASE_MS, ':none': 0 },
          from: 'launching',
        }),
      ),
    renew: () =>
      inTurn(async () => {
        const values = { ':until': clock.now() + LEASE_MS };
        await update({ expression: 'SET lease_until = :until', values });
        const { Item } = await table.client.send(
          new GetCommand({ TableName: table.name, Key: runKey(run), ConsistentRead: true }),
        );
        return { run: runRecordSchema.parse(Item).state };
      }),
    setStarts: (starts) =>
      inTurn(async () => {
        if (starts.size === 0) return;
        // In the condition already, so it has a value.
        await update(withStarts(starts, ['begun_by = :launch'], {}));
      }),
    record: (recorded) => inTurn(() => commitAttempt(deps, recorded, clock.now)),
    handBack: ({ starts, notBefore }) =>
      inTurn(() =>
        update(
          withStarts(starts, ['#state = :waiting', 'careful = :no', 'lease_until = :then'], {
            ':waiting': 'waiting',
            ':no': false,
            ':then': notBefore,
          }),
        ),
      ),
    async pauseRun(reason) {
      const pause = {
        TableName: table.name,
        Key: runKey(run),
        UpdateExpression: 'SET #state = :pausing, reason = :reason, updated_at = :now',
        ConditionExpression: '#state = :running',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: {
          ':pausing': 'pausing',
          ':running': 'running',
          ':reason': reason,
          ':now': new Date(clock.now()).toISOString(),
        },
      };
      // A run that is not running any more needs no stop.
      await transact(table, [{ Update: pause }], tokenOf(deps.uniqueId()));
    },
  };
}

/** An update that sets the counts of starts, by position, beside what else it sets. */
function withStarts(
  starts: ReadonlyMap<number, number>,
  sets: readonly string[],
  values: Record<string, unknown>,
): OwnedUpdate {
  const all = [...starts];
  return {
    expression: `SET ${[...sets, ...all.map((_, at) => `starts.#p${at} = :s${at}`)].join(', ')}`,
    values: { ...values, ...Object.fromEntries(all.map(([, count], at) => [`:s${at}`, count])) },
    names: Object.fromEntries(all.map(([position], at) => [`#p${at}`, String(position)])),
  };
}
