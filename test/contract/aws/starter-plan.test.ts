import { gzipSync } from 'node:zlib';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKeys } from '../../../src/core/cloud/bucket-keys.ts';
import { runFileSchema } from '../../../src/core/run/manifest.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { createCloudView, createStarter, jsonl } from '../../support/starter-deps.ts';

describe.skipIf(!hasEmulator())('the starter', () => {
  let emulator: Emulator;
  let resources: CloudResources;
  let view: ReturnType<typeof createCloudView>;

  beforeAll(async () => {
    emulator = await startEmulator();
    resources = await makeCloudResources(emulator.endpoint, 'starter');
    view = createCloudView(resources);
  });
  afterAll(() => emulator.stop());

  const runFile = async (run: string) =>
    runFileSchema.parse(JSON.parse((await view.text(runKeys(run).manifest)) ?? ''));

  it('plans a first pass: input, batches by image, messages, the dispatcher', async () => {
    const starter = createStarter(resources);
    const rows = [
      ...Array.from({ length: 5 }, (_, at) => ({ prompt: `a${at}`, image: 'one' })),
      { prompt: 'b', image: 'two' },
      { prompt: 'c', more: [1, 2] },
    ];
    const event = await view.upload('datasets/first/my prompts+ü.jsonl', jsonl(...rows));
    await starter.start(event);

    const input = await view.text(runKeys('first').input(1));
    expect(input).toBe(jsonl(...rows));
    const run = await view.run('first');
    expect(run).toMatchObject({
      state: 'running',
      pass: 1,
      batches_total: 4,
      batches_merged: 0,
      num_workers: 4,
      max_attempts: 3,
      model: 'rehearsal',
      planner: null,
      dataset: { key: 'datasets/first/my prompts+ü.jsonl' },
    });
    const batches = await view.batches('first');
    expect(
      batches.map(({ batch, image, state, prompts, remaining }) => [
        batch,
        image,
        state,
        prompts.map(({ index }) => index).join(),
        remaining,
      ]),
    ).toEqual([
      [0, 'one', 'queued', '0,1,2,3', 4],
      [1, 'one', 'queued', '4', 1],
      [2, 'two', 'queued', '5', 1],
      [3, '', 'queued', '6', 1],
    ]);
    for (const { offset, length, index } of batches.flatMap(({ prompts }) => prompts)) {
      expect(
        Buffer.from(input ?? '')
          .subarray(offset, offset + length)
          .toString(),
      ).toBe(JSON.stringify(rows[index]));
    }
    const messages = await view.messages('first');
    expect(messages).toEqual(
      batches.map(({ pass, batch, image, prompts }) => ({
        v: 1,
        run: 'first',
        pass,
        batch,
        image,
        prompts,
      })),
    );
    expect(starter.calls).toEqual(['nudge']);
    const file = await runFile('first');
    expect(file).toMatchObject({
      batch_size: 4,
      run_name: 'first',
      dataset_file: 'my prompts+ü.jsonl',
      sandbox: 'docker',
      manifest: { rehearsal: true, sandbox: 'docker', distribution: { name: 'default' } },
      passes: [{ pass: 1, rows: 7, invalid_rows: 0, input_of_pass: 1 }],
    });
    expect(file.passes[0]).not.toHaveProperty('notices');
  });

  it.each([
    ['plain', (text: string) => Buffer.from(text)],
    ['packed', (text: string) => gzipSync(text)],
    [
      'CRLF and a byte order mark',
      (text: string) => Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`),
    ],
    ['without a last newline', (text: string) => Buffer.from(text.trimEnd())],
  ])('reads a dataset that is %s', async (name, pack) => {
    const run = `form-${name.replaceAll(/\W/g, '')}`;
    const starter = createStarter(resources);
    const text = jsonl({ prompt: 'x' }, { prompt: 'ü' });
    await starter.start(
      await view.upload(`datasets/${run}/d.jsonl${name === 'packed' ? '.gz' : ''}`, pack(text)),
    );
    expect(await view.text(runKeys(run).input(1))).toBe(text);
    expect((await view.batches(run)).map(({ prompts }) => prompts.length)).toEqual([2]);
  });

  it('writes an input of several parts, whose rows are where their prompts say', async () => {
    const starter = createStarter(resources);
    const rows = Array.from({ length: 200 }, (_, at) => ({
      prompt: `${at} ${'x'.repeat(100_000)}`,
    }));
    const dataset = jsonl(...rows);
    await starter.start(await view.upload('datasets/parts/d.jsonl', dataset));
    const key = runKeys('parts').input(1);
    const { ETag } = await resources.bucket.client.send(
      new HeadObjectCommand({ Bucket: resources.bucket.name, Key: key }),
    );
    expect(ETag).toMatch(/-2"$/);
    const input = Buffer.from((await view.text(key)) ?? '');
    expect(input.equals(Buffer.from(dataset))).toBe(true);
    const prompts = (await view.batches('parts')).flatMap(({ prompts: of }) => of);
    expect(prompts).toHaveLength(200);
    for (const { offset, length, index } of prompts) {
      const text = input.subarray(offset, offset + length).toString();
      expect(text === JSON.stringify(rows[index])).toBe(true);
    }
    // Again it changes nothing: the object is there.
    const writer = starter.deps.files.openInput(key);
    for (let part = 0; part < 2; part += 1) await writer.write(Buffer.alloc(17 * 1024 ** 2));
    await writer.close();
    expect(Buffer.from((await view.text(key)) ?? '').equals(Buffer.from(dataset))).toBe(true);
  });
});
