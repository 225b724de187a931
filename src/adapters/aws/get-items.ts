import { setTimeout as delay } from 'node:timers/promises';
import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from './table.ts';
import type { ItemKey } from './table-keys.ts';
import { untilNotThrottled } from './until-not-throttled.ts';

/** Most items of one call. */
export const MOST_ITEMS = 100;

const FIRST_WAIT_MS = 50;
const MOST_WAIT_MS = 5_000;
const TRIES = 20;

/** Those of up to 100 items that exist, in no order. What the table leaves out is asked for again. */
export async function getItems(
  { client, name }: Table,
  keys: readonly ItemKey[],
): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  let rest: Record<string, unknown>[] = keys.map((key) => ({ ...key }));
  for (let tried = 1; rest.length > 0; tried += 1) {
    const asked = { [name]: { Keys: rest, ConsistentRead: true } };
    const answer = await untilNotThrottled(() =>
      client.send(new BatchGetCommand({ RequestItems: asked })),
    );
    const items = answer.Responses?.[name] ?? [];
    found.push(...items);
    rest = answer.UnprocessedKeys?.[name]?.Keys ?? [];
    if (rest.length === 0) break;
    if (tried === TRIES) throw new Error(`the table left out ${rest.length} items ${TRIES} times`);
    if (items.length === 0) await delay(Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** tried));
  }
  return found;
}
