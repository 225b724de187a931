import { GetCommand, PutCommand, paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type ImageRecord, imageRecordSchema } from '../../core/cloud/attempt-record.ts';
import { type RunRecord, runRecordSchema } from '../../core/cloud/run-record.ts';
import type { DispatchedRuns } from '../../core/ports/dispatched-runs.ts';
import { imageKeyOf } from './image-key.ts';
import type { Table } from './table.ts';
import { RUNS_INDEX, RUNS_PK, runKey } from './table-keys.ts';
import { ifHeld } from './where-held.ts';

/** Runs and their images in the table, for the dispatcher. */
export function createDynamoDispatchedRuns(table: Table): DispatchedRuns {
  const { client, name: TableName } = table;

  async function image(run: string, reference: string): Promise<ImageRecord | undefined> {
    const { Item } = await client.send(
      new GetCommand({ TableName, Key: imageKeyOf(run, reference), ConsistentRead: true }),
    );
    return Item === undefined ? undefined : imageRecordSchema.parse(Item);
  }

  return {
    async inStates(states) {
      const names = states.map((_, at) => `:s${at}`);
      const pages = paginateQuery(
        { client },
        {
          TableName,
          IndexName: RUNS_INDEX,
          KeyConditionExpression: 'runs_pk = :pk',
          FilterExpression: `#state IN (${names.join(', ')})`,
          ExpressionAttributeNames: { '#state': 'state' },
          ExpressionAttributeValues: {
            ':pk': RUNS_PK,
            ...Object.fromEntries(states.map((state, at) => [`:s${at}`, state])),
          },
        },
      );
      const found: RunRecord[] = [];
      for await (const { Items = [] } of pages) {
        found.push(...Items.map((item) => runRecordSchema.parse(item)));
      }
      return found;
    },
    async read(run) {
      const { Item } = await client.send(
        new GetCommand({ TableName, Key: runKey(run), ConsistentRead: true }),
      );
      return Item === undefined ? undefined : runRecordSchema.parse(Item);
    },
    async move(run, { from, to, reason, now }) {
      return await ifHeld(() =>
        client.send(
          new UpdateCommand({
            TableName,
            Key: runKey(run),
            UpdateExpression: `SET #state = :to, updated_at = :now${reason === undefined ? '' : ', reason = :reason'}`,
            ConditionExpression: '#state = :from',
            ExpressionAttributeNames: { '#state': 'state' },
            ExpressionAttributeValues: {
              ':from': from,
              ':to': to,
              ':now': new Date(now).toISOString(),
              ...(reason !== undefined && { ':reason': reason }),
            },
          }),
        ),
      );
    },
    async samplesDeleted(run, pass) {
      await client.send(
        new UpdateCommand({
          TableName,
          Key: runKey(run),
          UpdateExpression: 'SET samples_deleted_pass = :pass',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':pass': pass },
        }),
      );
    },
    async countStop(run) {
      await client.send(
        new UpdateCommand({
          TableName,
          Key: runKey(run),
          UpdateExpression: 'SET stops_unclaimed = stops_unclaimed + :one',
          ExpressionAttributeValues: { ':one': 1 },
        }),
      );
    },
    image,
    async keepImage(run, record, before) {
      const isKept = await ifHeld(() =>
        client.send(
          new PutCommand({
            TableName,
            Item: { ...imageKeyOf(run, record.reference), ...record },
            ...(before === undefined
              ? { ConditionExpression: 'attribute_not_exists(pk)' }
              : {
                  ConditionExpression: 'problem = :problem',
                  ExpressionAttributeValues: { ':problem': before.problem },
                }),
          }),
        ),
      );
      return isKept ? record : ((await image(run, record.reference)) ?? record);
    },
    async giveUpImage(run, reference, { problem, pass }) {
      await ifHeld(() =>
        client.send(
          new UpdateCommand({
            TableName,
            Key: imageKeyOf(run, reference),
            UpdateExpression: 'SET problem = :problem, #pass = :pass',
            ConditionExpression: 'problem = :none',
            ExpressionAttributeNames: { '#pass': 'pass' },
            ExpressionAttributeValues: { ':problem': problem, ':pass': pass, ':none': '' },
          }),
        ),
      );
    },
  };
}
