import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { merge } from '../../../functions/merge/merge.ts';
import { batchKey, runKey } from '../../../src/adapters/aws/table-keys.ts';
import { type Trajectory, trajectorySchema } from '../../../src/core/trajectory/trajectory.ts';
import { keysUnder, objectText } from '../../support/bucket-objects.ts';
import { type PlayedPrompt, storeClosedRun } from '../../support/closed-run.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { mergeDeps } from '../../support/merge-deps.ts';

const PROMPTS: PlayedPrompt[] = [
  { row: { prompt: 'a', note: 1 }, attempts: ['failed/model_error', 'completed'] },
  { row: { prompt: 'b' }, attempts: ['discarded/no_reasoning'] },
  { row: { prompt: 'c', image: 'img:1' }, attempts: [{ without_row: 'failed/image_unavailable' }] },
  { row: { prompt: 'd' }, attempts: ['partial/turns'] },
];

/** A stream record as Lambda gets it. */
function record(run: string, batch: number, sequence: string, image?: object) {
  const closed = { sk: { S: 'BATCH' }, state: { S: 'closed' } };
  const of = { run_name: { S: run }, batch: { N: String(batch) }, pk: { S: 'x' } };
  return {
    eventName: 'MODIFY',
    dynamodb: { SequenceNumber: sequence, NewImage: image ?? { ...closed, ...of } },
  };
}

describe.skipIf(!hasEmulator())('the merge of a batch', () => {
  let emulator: Emulator;
  let cloud: CloudResources;
  beforeAll(async () => {
    emulator = await startEmulator();
    cloud = await makeCloudResources(emulator.endpoint, 'merge-batch');
  }, 60_000);
  afterAll(() => emulator?.stop());

  async function batchItem(run: string, batch: number) {
    const { table } = cloud;
    const key = { TableName: table.name, Key: batchKey(run, batch) };
    return (await table.client.send(new GetCommand(key))).Item;
  }

  async function runItem(run: string) {
    const { table } = cloud;
    return (await table.client.send(new GetCommand({ TableName: table.name, Key: runKey(run) })))
      .Item;
  }

  async function rows(key: string): Promise<Trajectory[]> {
    const text = (await objectText(cloud.bucket, key)) ?? '';
    expect(text).toMatch(/\n$/);
    return text
      .slice(0, -1)
      .split('\n')
      .map((line) => trajectorySchema.parse(JSON.parse(line)));
  }

  it('writes rows of all attempts in plan order by kind, and the ledger, and counts once', async () => {
    const { entries } = await storeClosedRun(cloud, 'kinds', PROMPTS, { batchSize: 3 });
    const { deps, asked } = mergeDeps(cloud);
    // Both batches twice, at once, by both ways.
    const events = [
      { Records: [record('kinds', 0, '1'), record('kinds', 1, '2')] },
      { merge_batch: { run: 'kinds', batch: 1 } },
      { merge_batch: { run: 'kinds', batch: 0 } },
      { Records: [record('kinds', 0, '3')] },
    ];
    const answers = await Promise.all(events.map((event) => merge(event, deps)));
    expect(answers[0]).toEqual({ batchItemFailures: [] });
    expect(answers[1]).toEqual({ merged: true });
    expect(
      (await keysUnder(cloud.bucket, 'runs/kinds/')).filter((key) => /_\d+\.j|ledger/.test(key)),
    ).toEqual([
      'runs/kinds/batch_0.jsonl',
      'runs/kinds/discarded_0.jsonl',
      'runs/kinds/failed_0.jsonl',
      'runs/kinds/failed_1.jsonl',
      'runs/kinds/ledger/0.jsonl',
      'runs/kinds/ledger/1.jsonl',
    ]);
    const kept = await rows('runs/kinds/batch_0.jsonl');
    expect(kept.map(({ prompt_index, outcome }) => [prompt_index, outcome])).toEqual([
      [0, 'completed'],
      [3, 'partial/turns'],
    ]);
    const ledger = ['0', '1'].map((n) => objectText(cloud.bucket, `runs/kinds/ledger/${n}.jsonl`));
    const lines = (await Promise.all(ledger)).join('').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(entries);
    expect(await runItem('kinds')).toMatchObject({ batches_merged: 2, state: 'running' });
    const item = await batchItem('kinds', 0);
    expect(item).toMatchObject({ state: 'merged' });
    expect(item).not.toHaveProperty('live_pk');
    expect(new Set(asked)).toEqual(new Set(['merge_run kinds']));
  });

  it('makes the row of an attempt that no worker ran, as a local run has it', async () => {
    await storeClosedRun(cloud, 'without', PROMPTS, { batchSize: 3 });
    await merge({ merge_batch: { run: 'without', batch: 1 } }, mergeDeps(cloud).deps);
    const [row] = await rows('runs/without/failed_1.jsonl');
    expect(row).toMatchObject({
      prompt_index: 2,
      outcome: 'failed/image_unavailable',
      reason: 'as played',
      completed: false,
      partial: false,
      metadata: { image: 'img:1', run_name: 'without', batch_num: 1, source: '{}' },
      conversations: [{ from: 'human', value: 'c', tool_calls: [] }],
    });
    // Drawn as a worker would have, in row and ledger alike.
    expect(row?.toolsets_used).not.toEqual([]);
    const ledger = await objectText(cloud.bucket, 'runs/without/ledger/1.jsonl');
    expect(JSON.parse(ledger ?? '')).toMatchObject({ toolsets: row?.toolsets_used });
  });

  it('names the key of a sample that is missing, and leaves the batch closed', async () => {
    const { sampleKeys } = await storeClosedRun(cloud, 'missing', PROMPTS, { batchSize: 3 });
    const [key = ''] = sampleKeys;
    const { bucket } = cloud;
    await bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.name, Key: key }));
    const { deps, logged } = mergeDeps(cloud);
    await expect(merge({ merge_batch: { run: 'missing', batch: 0 } }, deps)).rejects.toThrow(key);
    const answer = await merge(
      { Records: [record('missing', 0, '7'), record('missing', 1, '8')] },
      deps,
    );
    // The one behind it is merged all the same.
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: '7' }] });
    expect(logged.map(({ level }) => level)).toContain('error');
    expect(await batchItem('missing', 0)).toMatchObject({ state: 'closed' });
    expect(await batchItem('missing', 1)).toMatchObject({ state: 'merged' });
    expect(await keysUnder(cloud.bucket, 'runs/missing/batch_')).toEqual([]);
  });

  it('refuses a closed batch that lacks an attempt, but for those an early close left', async () => {
    const prompts = [PROMPTS[0], { row: { prompt: 'never' }, attempts: [] }] as PlayedPrompt[];
    await storeClosedRun(cloud, 'gap', prompts);
    const { deps } = mergeDeps(cloud);
    await expect(merge({ merge_batch: { run: 'gap', batch: 0 } }, deps)).rejects.toThrow(
      '1 of its prompts have no attempt',
    );
    await storeClosedRun(cloud, 'early', prompts, { unfinished: 1 });
    expect(await merge({ merge_batch: { run: 'early', batch: 0 } }, deps)).toEqual({
      merged: true,
    });
  });

  it('leaves a batch alone that is not closed, and goes on with files that are there', async () => {
    await storeClosedRun(cloud, 'again', PROMPTS, { batchSize: 3 });
    const { table } = cloud;
    const set = (state: string) =>
      table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: batchKey('again', 0),
          UpdateExpression: 'SET #state = :state',
          ExpressionAttributeNames: { '#state': 'state' },
          ExpressionAttributeValues: { ':state': state },
        }),
      );
    await set('running');
    const { deps } = mergeDeps(cloud);
    const event = { merge_batch: { run: 'again', batch: 0 } };
    expect(await merge(event, deps)).toEqual({ merged: false });
    await set('closed');
    await merge(event, deps);
    const before = await objectText(cloud.bucket, 'runs/again/batch_0.jsonl');
    // As after an invocation that died between the files and the transaction.
    await set('closed');
    expect(await merge(event, deps)).toEqual({ merged: true });
    expect(await objectText(cloud.bucket, 'runs/again/batch_0.jsonl')).toBe(before);
  });

  it('refuses records and events of other shapes', async () => {
    const { deps } = mergeDeps(cloud);
    const odd = record('kinds', 0, '9', { sk: { S: 'BATCH' }, state: { S: 'running' } });
    expect(await merge({ Records: [odd] }, deps)).toEqual({
      batchItemFailures: [{ itemIdentifier: '9' }],
    });
    for (const event of [{}, null, { merge_run: '' }, { merge_batch: { run: 'x', batch: -1 } }]) {
      await expect(merge(event, deps)).rejects.toThrow();
    }
  });
});
