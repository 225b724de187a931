import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDynamoPlannedBatches } from '../../../src/adapters/aws/dynamo-planned-batches.ts';
import { createDynamoPromptOutcomes } from '../../../src/adapters/aws/dynamo-prompt-outcomes.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { batchRecord } from '../../support/dispatch-records.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { createCloudView } from '../../support/starter-deps.ts';

describe.skipIf(!hasEmulator())('a table that is short of capacity', () => {
  let emulator: Emulator;
  let resources: CloudResources;
  let view: ReturnType<typeof createCloudView>;

  beforeAll(async () => {
    emulator = await startEmulator();
    resources = await makeCloudResources(emulator.endpoint, 'short');
    view = createCloudView(resources);
  });
  afterAll(() => emulator.stop());

  /** The same table by a client that is refused so many times, with no tries of its own. */
  function throttled(times: number) {
    const client = new DynamoDBClient({
      region: 'us-east-1',
      endpoint: emulator.endpoint,
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      maxAttempts: 1,
    });
    let left = times;
    client.middlewareStack.add(
      (next) => async (args) => {
        left -= 1;
        if (left < 0) return await next(args);
        throw Object.assign(new Error('slow down'), {
          name: 'ProvisionedThroughputExceededException',
        });
      },
      { step: 'initialize', name: 'throttled' },
    );
    return { client: DynamoDBDocumentClient.from(client), name: resources.table.name };
  }

  /** The same table, whose answers leave most of what was asked for out. */
  function forgetful() {
    const calls: number[] = [];
    const client = new DynamoDBClient({
      region: 'us-east-1',
      endpoint: emulator.endpoint,
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    const table = { client: DynamoDBDocumentClient.from(client), name: resources.table.name };
    table.client.middlewareStack.add(
      (next) => async (args) => {
        const { RequestItems } = args.input as {
          RequestItems: Record<string, { Keys: object[]; ConsistentRead: boolean }>;
        };
        const asked = RequestItems[table.name];
        const keys = asked?.Keys ?? [];
        calls.push(keys.length);
        const some = { ...asked, Keys: keys.slice(0, 40) };
        const answer = await next({
          ...args,
          input: { ...args.input, RequestItems: { [table.name]: some } },
        });
        const rest = keys.slice(40);
        if (rest.length > 0) {
          const output = answer.output as { UnprocessedKeys?: object };
          output.UnprocessedKeys = { [table.name]: { ...asked, Keys: rest } };
        }
        return answer;
      },
      { step: 'initialize', name: 'forgetful', priority: 'high' },
    );
    return { table, calls };
  }

  it('is written to again until it takes it', async () => {
    const batches = createDynamoPlannedBatches(throttled(3));
    expect(await batches.put(batchRecord('run', 0))).toBe(true);
    expect(await batches.put(batchRecord('run', 0))).toBe(false);
    expect(await view.batches('run')).toHaveLength(1);
  });

  it('is asked again for what it left out of an answer', async () => {
    const prompts = Array.from({ length: 100 }, (_, at) => ({
      hash: at.toString(16).padStart(64, '0'),
      occurrence: at % 3,
    }));
    for (const [at, prompt] of prompts.entries()) {
      if (at % 9 === 0) await view.putOutcome('asked', prompt, 'completed', at + 1);
    }
    const { table, calls } = forgetful();
    const known = await createDynamoPromptOutcomes(table, 'asked').of(prompts);
    expect(calls).toEqual([100, 60, 20]);
    expect(known).toEqual(
      prompts.map((_, at) =>
        at % 9 === 0 ? { outcome: 'completed', attempt: at + 1 } : undefined,
      ),
    );
  });

  it('is given batches of a pass once, and over those of a pass that never ran', async () => {
    const batches = createDynamoPlannedBatches(resources.table);
    const of = (pass: number, image: string) => batchRecord('once', 0, { pass, image });
    const puts = await Promise.all(
      Array.from({ length: 6 }, (_, at) => batches.put(of(2, `image-${at}`))),
    );
    expect(puts.filter(Boolean)).toHaveLength(1);
    const [won] = await view.batches('once');
    expect(won?.image).toBe(`image-${puts.indexOf(true)}`);
    expect(await batches.put(of(1, 'older'))).toBe(false);
    expect(await batches.put(of(3, 'newer'))).toBe(true);
    expect((await view.batches('once')).map(({ image }) => image)).toEqual(['newer']);
    await batches.removeFrom('once', 0, 3);
    expect(await view.batches('once')).toHaveLength(1);
    await batches.removeFrom('once', 0, 4);
    expect(await view.batches('once')).toEqual([]);
  });
});
