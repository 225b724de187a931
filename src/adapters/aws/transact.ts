import { setTimeout as delay } from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Table } from './table.ts';

export type TransactItems = NonNullable<TransactWriteCommandInput['TransactItems']>;

/** Why each item of a transaction did not go through, by its place: `None` for those that would have. */
export type CancelReasons = readonly string[];

/** Reasons that pass: the same transaction is sent again. */
const PASSING = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);
const FIRST_WAIT_MS = 25;
const MOST_WAIT_MS = 2_000;
const TRIES = 20;

/**
 * Writes all items or none, under one `token`, at most 36 characters, so that a try whose answer was
 * lost is not done twice. Conflicts with others are tried again. Resolves to the reasons where a
 * condition did not hold, else to undefined.
 */
export async function transact(
  table: Table,
  items: TransactItems,
  token: string,
): Promise<CancelReasons | undefined> {
  for (let tried = 1; ; tried += 1) {
    try {
      const input = { TransactItems: items, ClientRequestToken: token };
      await table.client.send(new TransactWriteCommand(input));
      return undefined;
    } catch (error) {
      const reasons = reasonsOf(error);
      if (reasons.includes('ConditionalCheckFailed')) return reasons;
      const isPassing =
        reasons.some((reason) => PASSING.has(reason)) ||
        nameOf(error) === 'TransactionInProgressException';
      if (!isPassing || tried === TRIES) throw error;
      const ceiling = Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** tried);
      await delay(ceiling / 2 + (ceiling / 2) * Math.random());
    }
  }
}

function reasonsOf(error: unknown): string[] {
  if (!(error instanceof TransactionCanceledException)) return [];
  return (error.CancellationReasons ?? []).map(({ Code = 'None' }) => Code);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}
