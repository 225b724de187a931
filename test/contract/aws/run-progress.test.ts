import { BatchWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRunProgressReader } from '../../../src/adapters/aws/run-progress.ts';
import { batchKey, runKey } from '../../../src/adapters/aws/table-keys.ts';
import { putItem, runRecord } from '../../support/closed-run.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';

const BATCHES = 230;
const ITEMS_A_WRITE = 25;

describe.skipIf(!hasEmulator())('the progress of a run', () => {
  let emulator: Emulator;
  let cloud: CloudResources;
  beforeAll(async () => {
    emulator = await startEmulator();
    cloud = await makeCloudResources(emulator.endpoint, 'run-progress');
  }, 60_000);
  afterAll(() => emulator?.stop());

  async function storeBatches(run: string): Promise<void> {
    const { table } = cloud;
    const items = Array.from({ length: BATCHES }, (_, batch) => ({
      ...batchKey(run, batch),
      batch,
      state: batch < 200 ? 'merged' : 'running',
      prompts: [{}, {}, {}],
      remaining: batch < 200 ? 0 : 2,
    }));
    for (let at = 0; at < items.length; at += ITEMS_A_WRITE) {
      const some = items.slice(at, at + ITEMS_A_WRITE);
      const puts = some.map((Item) => ({ PutRequest: { Item } }));
      await table.client.send(new BatchWriteCommand({ RequestItems: { [table.name]: puts } }));
    }
    await putItem(table, { ...runKey(run), ...runRecord(run, BATCHES) });
  }

  const sleep = async () => undefined;

  it('counts more batches than one call gives, and sees what has changed since', async () => {
    await storeBatches('many');
    const { table } = cloud;
    const read = createRunProgressReader('many', { table, sleep });
    expect(await read()).toMatchObject({
      run: { run_name: 'many', state: 'running' },
      batches: { waiting: 0, running: 30, merged: 200 },
      prompts: { planned: 690, ended: 630 },
    });
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: batchKey('many', 229),
        UpdateExpression: 'SET #state = :merged, remaining = :none',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ':merged': 'merged', ':none': 0 },
      }),
    );
    expect(await read()).toMatchObject({
      batches: { running: 29, merged: 201 },
      prompts: { planned: 690, ended: 632 },
    });
  });

  it('knows no run that is not there', async () => {
    const { table } = cloud;
    expect(await createRunProgressReader('none', { table, sleep })()).toBeUndefined();
  });
});
