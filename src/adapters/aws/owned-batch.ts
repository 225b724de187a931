import { createHash } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { type BatchRecord, batchRecordSchema } from '../../core/cloud/batch-record.ts';
import { LeaseLostError } from '../../core/ports/batch-work.ts';
import type { Table } from './table.ts';
import { batchKey } from './table-keys.ts';
import type { TransactItems } from './transact.ts';

/** A batch item, as the one launch that has it sees it. */
export interface OwnedBatch {
  table: Table;
  run: string;
  batch: number;
  launch: number;
}

/** Throws `LeaseLostError` where there is none. */
export async function readOwned({ table, run, batch }: OwnedBatch): Promise<BatchRecord> {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: batchKey(run, batch), ConsistentRead: true }),
  );
  if (Item === undefined) throw new LeaseLostError(`batch ${batch} of run ${run} is gone`);
  return batchRecordSchema.parse(Item);
}

export interface OwnedUpdate {
  expression: string;
  values: Record<string, unknown>;
  /** The state that the batch must have; `running` by default. */
  from?: string;
  /** What must hold besides. */
  condition?: string;
  names?: Record<string, string>;
}

/** An update of the batch item that holds only while this launch has the batch. */
export function ownedUpdate(of: OwnedBatch, update: OwnedUpdate): TransactItems[number] {
  const { from = 'running', condition, names } = update;
  const conditions = ['launch = :launch', '#state = :from', ...(condition ? [condition] : [])];
  return {
    Update: {
      TableName: of.table.name,
      Key: batchKey(of.run, of.batch),
      UpdateExpression: update.expression,
      ConditionExpression: conditions.join(' AND '),
      ExpressionAttributeNames: { '#state': 'state', ...names },
      ExpressionAttributeValues: { ':launch': of.launch, ':from': from, ...update.values },
    },
  };
}

/** The error that says who has the batch now. */
export async function lostBatch(of: OwnedBatch): Promise<LeaseLostError> {
  const { state, launch } = await readOwned(of);
  return new LeaseLostError(
    `launch ${of.launch} no longer has batch ${of.batch} of run ${of.run}: it is ${state}, in launch ${launch}`,
  );
}

/** A token of a transaction: the same for the same text. */
export function tokenOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 36);
}
