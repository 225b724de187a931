import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { z } from 'zod';
import { promptRecordSchema } from '../../core/cloud/attempt-record.ts';
import type { KnownOutcome, PromptOutcomes } from '../../core/ports/prompt-outcomes.ts';
import { getItems } from './get-items.ts';
import type { Table } from './table.ts';
import { promptKey } from './table-keys.ts';
import { whereHeld } from './where-held.ts';

const itemSchema = promptRecordSchema.extend({ pk: z.string(), sk: z.string() });

/** How a run's prompts ended, as its prompt items have it. */
export function createDynamoPromptOutcomes(table: Table, run: string): PromptOutcomes {
  return {
    async of(prompts) {
      const keys = prompts.map(({ hash, occurrence }) => promptKey(run, hash, occurrence));
      const found = new Map<string, KnownOutcome>();
      for (const item of await getItems(table, keys)) {
        const { pk, sk, outcome, attempt } = itemSchema.parse(item);
        found.set(`${pk} ${sk}`, { outcome, attempt });
      }
      return keys.map(({ pk, sk }) => found.get(`${pk} ${sk}`));
    },
    async note({ hash, occurrence }, last) {
      await whereHeld(() =>
        table.client.send(
          new PutCommand({
            TableName: table.name,
            Item: { ...promptKey(run, hash, occurrence), ...last },
            ConditionExpression:
              'attribute_not_exists(pk) OR (begins_with(outcome, :failed) AND attempt < :attempt)',
            ExpressionAttributeValues: { ':failed': 'failed/', ':attempt': last.attempt },
          }),
        ),
      );
    },
  };
}
