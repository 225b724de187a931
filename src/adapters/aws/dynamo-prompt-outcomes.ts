import { setTimeout as delay } from 'node:timers/promises';
import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { z } from 'zod';
import { promptRecordSchema } from '../../core/cloud/attempt-record.ts';
import type { KnownOutcome, PromptOutcomes } from '../../core/ports/prompt-outcomes.ts';
import type { Table } from './table.ts';
import { promptKey } from './table-keys.ts';

const FIRST_WAIT_MS = 50;
const MOST_WAIT_MS = 5_000;
const TRIES = 20;

const itemSchema = promptRecordSchema.extend({ pk: z.string(), sk: z.string() });

/** How a run's prompts ended, as its prompt items have it. */
export function createDynamoPromptOutcomes(table: Table, run: string): PromptOutcomes {
  return {
    async of(prompts) {
      const keys = prompts.map(({ hash, occurrence }) => promptKey(run, hash, occurrence));
      const found = new Map<string, KnownOutcome>();
      for (const item of await getAll(table, keys)) {
        const { pk, sk, outcome, attempt } = itemSchema.parse(item);
        found.set(`${pk} ${sk}`, { outcome, attempt });
      }
      return keys.map(({ pk, sk }) => found.get(`${pk} ${sk}`));
    },
  };
}

/** What the table leaves out of an answer is asked for again. */
async function getAll(
  { client, name }: Table,
  keys: readonly { pk: string; sk: string }[],
): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  let rest: Record<string, unknown>[] = keys.map((key) => ({ ...key }));
  for (let tried = 1; rest.length > 0; tried += 1) {
    const answer = await client.send(
      new BatchGetCommand({ RequestItems: { [name]: { Keys: rest, ConsistentRead: true } } }),
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
