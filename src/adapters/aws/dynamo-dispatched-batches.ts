import {
  BatchGetCommand,
  paginateQuery,
  QueryCommand,
  type QueryCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { type AttemptRecord, attemptRecordSchema } from '../../core/cloud/attempt-record.ts';
import {
  type BatchRecord,
  type BatchState,
  batchRecordSchema,
  queuedUntil,
} from '../../core/cloud/batch-record.ts';
import type { DispatchedBatches } from '../../core/ports/dispatched-batches.ts';
import { atOnce } from './at-once.ts';
import { AS_READ, asRead, closeBatchItem } from './close-batch-item.ts';
import type { Table } from './table.ts';
import { ATTEMPT_PREFIX, batchKey, LIVE_INDEX, livePks } from './table-keys.ts';
import { ifHeld } from './where-held.ts';

const STATE = { '#state': 'state' };
const MOST_OF_BATCH_GET = 100;
const AT_ONCE = 8;
const OPEN: readonly BatchState[] = ['waiting', 'queued', 'launching', 'running'];

/** Batches in the table, for the dispatcher. */
export function createDynamoDispatchedBatches(
  table: Table,
  newId: () => string,
): DispatchedBatches {
  const { client, name: TableName } = table;

  async function readSome(keys: Record<string, string>[]): Promise<BatchRecord[]> {
    const found: BatchRecord[] = [];
    let asked: Record<string, unknown>[] = keys;
    while (asked.length > 0) {
      const { Responses, UnprocessedKeys } = await client.send(
        new BatchGetCommand({
          RequestItems: { [TableName]: { Keys: asked, ConsistentRead: true } },
        }),
      );
      found.push(...(Responses?.[TableName] ?? []).map((item) => batchRecordSchema.parse(item)));
      asked = UnprocessedKeys?.[TableName]?.Keys ?? [];
    }
    return found;
  }

  /** From every part of the index of a run, at most `limit` of each. */
  async function fromIndex(
    run: string,
    limit: number,
    of: Pick<QueryCommandInput, 'FilterExpression' | 'ExpressionAttributeNames'> & {
      condition: string;
      values: Record<string, unknown>;
    },
  ): Promise<BatchRecord[]> {
    const { condition, values, ...rest } = of;
    const parts = await atOnce(livePks(run), AT_ONCE, async (pk) => {
      const found: BatchRecord[] = [];
      let from: Record<string, unknown> | undefined;
      do {
        const page = await client.send(
          new QueryCommand({
            TableName,
            IndexName: LIVE_INDEX,
            KeyConditionExpression: `live_pk = :pk${condition}`,
            ExpressionAttributeValues: { ...values, ':pk': pk },
            ...rest,
            Limit: Math.max(limit, 25),
            ...(from !== undefined && { ExclusiveStartKey: from }),
          }),
        );
        found.push(...(page.Items ?? []).map((item) => batchRecordSchema.parse(item)));
        from = page.LastEvaluatedKey;
      } while (from !== undefined && found.length < limit);
      return found;
    });
    return parts
      .flat()
      .sort((a, b) => a.lease_until - b.lease_until || a.batch - b.batch)
      .slice(0, limit);
  }

  /** Holds only for a batch as it was read. */
  async function update(
    read: BatchRecord,
    expression: string,
    values: Record<string, unknown>,
  ): Promise<boolean> {
    return await ifHeld(() =>
      client.send(
        new UpdateCommand({
          TableName,
          Key: batchKey(read.run_name, read.batch),
          UpdateExpression: expression,
          ConditionExpression: AS_READ,
          ExpressionAttributeNames: STATE,
          ExpressionAttributeValues: { ...asRead(read), ...values },
        }),
      ),
    );
  }

  return {
    async read(ids) {
      // One batch may have two launches, the first of which is still ending; a key may be asked once.
      const unique = new Map(
        ids.map(({ run, batch }) => [`${run}/${batch}`, batchKey(run, batch)]),
      );
      const keys = [...unique.values()].map((key) => ({ ...key }));
      const groups = Array.from({ length: Math.ceil(keys.length / MOST_OF_BATCH_GET) }, (_, at) =>
        keys.slice(at * MOST_OF_BATCH_GET, (at + 1) * MOST_OF_BATCH_GET),
      );
      return (await atOnce(groups, AT_ONCE, readSome)).flat();
    },
    due: (run, now, limit) =>
      fromIndex(run, limit, {
        condition: ' AND lease_until <= :now',
        values: { ':now': now },
      }),
    waiting: (run, now, limit) =>
      fromIndex(run, limit, {
        condition: ' AND lease_until <= :now',
        FilterExpression: '#state = :waiting',
        ExpressionAttributeNames: STATE,
        values: { ':now': now, ':waiting': 'waiting' },
      }),
    queuedBefore: (run, sentBefore, limit) =>
      fromIndex(run, limit, {
        condition: ' AND lease_until BETWEEN :first AND :last',
        values: { ':first': queuedUntil(0), ':last': queuedUntil(sentBefore) },
      }),
    open: (run, limit, beforePass = Number.MAX_SAFE_INTEGER) =>
      fromIndex(run, limit, {
        condition: '',
        FilterExpression: `#state IN (${OPEN.map((_, at) => `:o${at}`).join(', ')}) AND #pass < :pass`,
        ExpressionAttributeNames: { ...STATE, '#pass': 'pass' },
        values: {
          ...Object.fromEntries(OPEN.map((state, at) => [`:o${at}`, state])),
          ':pass': beforePass,
        },
      }),
    async attempts({ run, batch }) {
      const pages = paginateQuery(
        { client },
        {
          TableName,
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
          ExpressionAttributeValues: { ':pk': batchKey(run, batch).pk, ':prefix': ATTEMPT_PREFIX },
        },
      );
      const found: AttemptRecord[] = [];
      for await (const { Items = [] } of pages) {
        found.push(...Items.map((item) => attemptRecordSchema.parse(item)));
      }
      return found;
    },
    wait: (read, until, unclaimed) =>
      update(read, 'SET #state = :waiting, lease_until = :to, unclaimed = :unclaimed', {
        ':waiting': 'waiting',
        ':to': until,
        ':unclaimed': unclaimed,
      }),
    queue: (read, now) =>
      update(read, 'SET #state = :queued, lease_until = :to, queued_at = :now', {
        ':queued': 'queued',
        ':to': queuedUntil(now),
        ':now': now,
      }),
    async lookAgain(read, until) {
      await update(read, 'SET lease_until = :to', { ':to': until });
    },
    close: (read, closing, now) => closeBatchItem(table, { read, closing, now, newId }),
  };
}
