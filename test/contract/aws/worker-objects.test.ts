import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBucketWorkerObjects } from '../../../src/adapters/aws/bucket-worker-objects.ts';
import { planBatch, sha256Hex } from '../../support/cloud-batch.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { trajectoryRow } from '../../unit/trajectory/trajectory-row.ts';

describe.runIf(hasEmulator())('objects of a worker', () => {
  let emulator: Emulator;
  let resources: CloudResources;
  beforeAll(async () => {
    emulator = await startEmulator();
    resources = await makeCloudResources(emulator.endpoint, 'worker-objects');
  }, 60_000);
  afterAll(() => emulator?.stop());

  const objectsOf = (run: string) => createBucketWorkerObjects(resources.bucket, run, sha256Hex);
  const put = (Key: string, Body: string) =>
    resources.bucket.client.send(
      new PutObjectCommand({ Bucket: resources.bucket.name, Key, Body }),
    );

  it('reads rows by their place, whatever bytes they have', async () => {
    const rows = [{ prompt: 'é\u2028🚀' }, { prompt: 'two', image: 'a', cwd: '/x', more: 1.0 }];
    const batch = await planBatch(resources, { run: 'rows', rows });
    const { prompts } = await batch.record();
    const objects = objectsOf('rows');
    const read = await Promise.all(prompts.map((prompt) => objects.row(prompt, 1)));
    expect(read).toEqual([
      { prompt: 'é\u2028🚀', image: '', cwd: '', source: '{}' },
      { prompt: 'two', image: 'a', cwd: '/x', source: '{"more":1}' },
    ]);
  });

  it('takes no other bytes for a row, and names the object', async () => {
    const rows = [{ prompt: 'one' }, { prompt: 'two' }];
    const batch = await planBatch(resources, { run: 'wrong', rows });
    const [first, second] = (await batch.record()).prompts;
    if (first === undefined || second === undefined) throw new Error('no prompts');
    const objects = objectsOf('wrong');
    const input = 'runs/wrong/passes/1/input.jsonl';
    for (const [prompt, problem] of [
      [{ ...first, offset: second.offset }, /are not the row of prompt 0/],
      [{ ...first, length: 3 }, /expected a JSON object/],
      [{ ...first, offset: 100 }, /./],
      [{ ...first, length: 1_000 }, /expected 1000 bytes/],
    ] as const) {
      const read = objects.row(prompt, 1);
      await expect(read).rejects.toThrow(problem);
      if (prompt.offset !== 100) await expect(read).rejects.toThrow(input);
    }
    await expect(objects.row(first, 2)).rejects.toThrow('passes/2/input.jsonl: there is no such');
  });

  it('lists and reads the rows that it stored, of one batch', async () => {
    const objects = objectsOf('stored');
    const row = trajectoryRow(1);
    expect(await objects.putSample(1, { position: 0, launch: 2 }, row)).toBe(
      'runs/stored/samples/1/0-2.json',
    );
    await objects.putSample(1, { position: 10, launch: 1 }, trajectoryRow(2));
    await objects.putSample(10, { position: 0, launch: 1 }, trajectoryRow(3));
    await put('runs/stored/samples/1/else', '');
    const found = await objects.samples(1);
    expect(found.sort((a, b) => a.position - b.position)).toEqual([
      { position: 0, launch: 2 },
      { position: 10, launch: 1 },
    ]);
    expect(await objects.sample(1, { position: 0, launch: 2 })).toEqual({
      key: 'runs/stored/samples/1/0-2.json',
      row,
    });
    await put('runs/stored/samples/1/1-1.json', '{"prompt_index": 1}');
    await expect(objects.sample(1, { position: 1, launch: 1 })).rejects.toThrow(
      'runs/stored/samples/1/1-1.json: it is not what Talaria writes',
    );
  });

  it('has private settings, or none', async () => {
    expect(await objectsOf('open').privateSettings()).toEqual({});
    await put('runs/secret/private.json', '{"ephemeral_system_prompt":"Hush."}');
    expect(await objectsOf('secret').privateSettings()).toEqual({
      ephemeral_system_prompt: 'Hush.',
    });
  });

  it('refuses a run.json that is none', async () => {
    await put('runs/bad/run.json', '{"run_name":"bad"}');
    await expect(objectsOf('bad').runFile()).rejects.toThrow('runs/bad/run.json');
  });
});
