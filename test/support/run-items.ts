import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { merge } from '../../functions/merge/merge.ts';
import { runKey } from '../../src/adapters/aws/table-keys.ts';
import type { RunRecord } from '../../src/core/cloud/run-record.ts';
import type { PlayedPrompt } from './closed-run.ts';
import type { CloudResources } from './cloud-resources.ts';
import { mergeDeps } from './merge-deps.ts';

/** Prompts of three images with every kind of end, some after a first attempt. */
export const MIXED_PROMPTS: PlayedPrompt[] = Array.from({ length: 23 }, (_, index) => ({
  row: { prompt: `p${index}`, ...(index % 3 === 0 && { image: `img:${index % 2}` }), n: index },
  attempts: [
    ...(index % 4 === 0 ? ['failed/rate_limited' as const] : []),
    (['completed', 'partial/turns', 'discarded/invalid_tool', 'failed/tool_crash'] as const)[
      index % 4
    ] ?? 'completed',
  ],
}));
MIXED_PROMPTS[5] = {
  row: { prompt: 'no image', image: 'gone' },
  attempts: [{ without_row: 'failed/image_unavailable' }],
};

/** The run item as it is stored. */
export async function runItem(
  { table }: Pick<CloudResources, 'table'>,
  run: string,
): Promise<Partial<RunRecord>> {
  const key = { TableName: table.name, Key: runKey(run), ConsistentRead: true };
  return (await table.client.send(new GetCommand(key))).Item ?? {};
}

export async function setRun(
  { table }: Pick<CloudResources, 'table'>,
  run: string,
  fields: Partial<RunRecord>,
): Promise<void> {
  const of = Object.entries(fields);
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: runKey(run),
      UpdateExpression: `SET ${of.map(([name]) => `#${name} = :${name}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(of.map(([name]) => [`#${name}`, name])),
      ExpressionAttributeValues: Object.fromEntries(of.map(([name, v]) => [`:${name}`, v])),
    }),
  );
}

export async function mergeBatches(
  cloud: Pick<CloudResources, 'table' | 'bucket'>,
  run: string,
  batches: number,
): Promise<void> {
  const { deps } = mergeDeps(cloud);
  for (let batch = 0; batch < batches; batch += 1) {
    await merge({ merge_batch: { run, batch } }, deps);
  }
}
