import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKeys, uploadKeys } from '../../../src/core/cloud/bucket-keys.ts';
import { runFileSchema } from '../../../src/core/run/manifest.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { createCloudView, createStarter, jsonl } from '../../support/starter-deps.ts';

const ROWS = jsonl({ prompt: 'a' }, { prompt: 'b' });

describe.skipIf(!hasEmulator())('what a starter refuses', () => {
  let emulator: Emulator;
  let resources: CloudResources;
  let view: ReturnType<typeof createCloudView>;

  beforeAll(async () => {
    emulator = await startEmulator();
    resources = await makeCloudResources(emulator.endpoint, 'refusals');
    view = createCloudView(resources);
  });
  afterAll(() => emulator.stop());

  const errorOf = async (run: string) => {
    const text = await view.text(runKeys(run).error);
    return text === undefined ? undefined : (JSON.parse(text) as { error: string; pass: number });
  };
  const runFile = async (run: string) =>
    runFileSchema.parse(JSON.parse((await view.text(runKeys(run).manifest)) ?? ''));

  it.each([
    ['empty', '', 'd.jsonl: expected rows of JSON, got no line'],
    ['blank', '\n \n', 'd.jsonl: expected rows of JSON, got no line'],
    [
      'bad',
      '[]\n1\n',
      'd.jsonl:1: expected a JSON object, got an array; expected at least one valid row, got 2 bad lines',
    ],
    [
      'torn',
      gzipSync(ROWS.repeat(100)).subarray(0, 40),
      'd.jsonl: expected a whole gzip file, got one that ends early',
    ],
  ])('a dataset that is %s', async (name, content, words) => {
    const starter = createStarter(resources);
    await starter.start(await view.upload(`datasets/data-${name}/d.jsonl`, content));
    const run = `data-${name}`;
    expect(await view.run(run)).toMatchObject({
      state: 'failed',
      reason: words,
      planner: null,
      batches_total: 0,
    });
    expect(await errorOf(run)).toMatchObject({ pass: 1, error: words });
    expect(starter.calls).toEqual([`refused ${run}`]);
    expect(await view.text(runKeys(run).input(1))).toBeUndefined();
    expect(await view.text(runKeys(run).manifest)).toBeUndefined();
    expect(await view.batches(run)).toEqual([]);

    // The next upload is the run's first pass that comes to something.
    await starter.start(await view.upload(`datasets/${run}/d.jsonl`, ROWS));
    expect(await view.run(run)).toMatchObject({ state: 'running', reason: '', batches_total: 1 });
    expect((await runFile(run)).passes.map(({ pass, input_of_pass: of }) => [pass, of])).toEqual([
      [2, 2],
    ]);
    expect(await view.text(runKeys(run).input(2))).toBe(ROWS);
    expect(await errorOf(run)).toBeUndefined();
  });

  it.each([
    ['no JSON', '{', 'run.json: expected JSON, got text that is not'],
    ['no object', '[]', 'run.json: expected a JSON object of settings'],
    [
      'an unknown key',
      { batch_size: 1, colour: 'red' },
      'colour in run.json: there is no such setting',
    ],
    [
      'a wrong value',
      { batch_size: 0 },
      'batch_size in run.json: expected a whole number (1 to 1000000), got 0',
    ],
    ['a missing value', {}, 'batch_size in run.json is required'],
    [
      'a key',
      { batch_size: 1, api_key: 'sk-secret' },
      'api_key in run.json is refused: keys of models are in the secret',
    ],
    [
      'a prompt that is never written',
      { batch_size: 1, ephemeral_system_prompt: 'sk-secret' },
      'ephemeral_system_prompt in run.json is refused',
    ],
    ['a limit of cost', { batch_size: 1, max_cost_usd: 3 }, 'max_cost_usd in run.json is refused'],
    [
      'a limit of tokens',
      { batch_size: 1, max_total_tokens: 3 },
      'max_total_tokens in run.json is refused',
    ],
    [
      'a login',
      { batch_size: 1, base_url: 'https://me:sk-secret@host/v1' },
      'base_url in run.json: expected no user or password',
    ],
    [
      'toolsets that there are not',
      { batch_size: 1, toolsets: ['nails'] },
      'toolsets in run.json: expected names of',
    ],
    [
      'a distribution that there is not',
      { batch_size: 1, distribution: 'mine' },
      'distribution in run.json: expected one of',
    ],
    [
      'a file of somewhere else',
      { batch_size: 1, prefill_messages_file: 'p.json' },
      'prefill_messages_file in run.json: its messages are not here',
    ],
  ])('a config with %s', async (name, config, words) => {
    const run = `config-${name.replaceAll(/\W/g, '')}`;
    const starter = createStarter(resources);
    const text = typeof config === 'string' ? config : JSON.stringify(config);
    await view.put(uploadKeys(run).config, text);
    await starter.start(await view.upload(`datasets/${run}/d.jsonl`, ROWS));
    const { reason, state } = await view.run(run);
    expect(state).toBe('failed');
    expect(reason).toContain(words);
    expect((await errorOf(run))?.error).toBe(reason);
    expect(JSON.stringify([starter.lines, reason])).not.toContain('sk-secret');
    expect(await view.text(runKeys(run).input(1))).toBeUndefined();
  });

  it('bad lines with strict, and names them without', async () => {
    const starter = createStarter(resources);
    const dataset = `${ROWS}nonsense\n${ROWS}{"prompt": ""}\n`;
    await view.put(uploadKeys('strict').config, JSON.stringify({ batch_size: 2, strict: true }));
    await starter.start(await view.upload('datasets/strict/d.jsonl', dataset));
    expect((await view.run('strict')).reason).toMatch(
      /^strict: the dataset has 2 bad lines, the first is line 3: expected a JSON object/,
    );
    await view.put(uploadKeys('strict').config, JSON.stringify({ batch_size: 20 }));
    await starter.start(await view.upload('datasets/strict/d.jsonl', dataset));
    const { passes, batch_size: size } = await runFile('strict');
    expect(size).toBe(20);
    expect(passes[0]).toMatchObject({ rows: 4, invalid_rows: 2 });
    expect(passes[0]?.notices).toEqual([
      'batch_size 20 is lowered to 8: a task has no more sandboxes',
      '2 bad lines are skipped',
      expect.stringMatching(/^line 3: expected a JSON object/),
      'line 6: expected "prompt" to be a non-empty string, got an empty string',
    ]);
    expect(await view.text(runKeys('strict').input(2))).toBe(ROWS + ROWS);
  });

  it.each(['done', 'cancelled', 'paused', 'failed'] as const)(
    'leaves a run that was %s as it was',
    async (state) => {
      const run = `ended-${state}`;
      const starter = createStarter(resources);
      await view.put(uploadKeys(run).config, JSON.stringify({ batch_size: 2, seed: 1 }));
      await starter.start(await view.upload(`datasets/${run}/d.jsonl`, ROWS));
      await view.changeRun(run, { state, batches_merged: 1, reason: 'it was so' });
      const before = await view.text(runKeys(run).manifest);
      await view.put(uploadKeys(run).config, JSON.stringify({ batch_size: 2, seed: 2 }));
      await starter.start(await view.upload(`datasets/${run}/d.jsonl`, ROWS));
      const words = "seed can't change within a run: the run has 1, this pass has 2";
      const after = await view.run(run);
      expect(after).toMatchObject({ state, planner: null, batches_total: 1 });
      expect((await errorOf(run))?.error).toContain(words);
      // Why it is paused is still true.
      expect(after.reason).toContain(state === 'paused' ? 'it was so' : words);
      expect(await view.text(runKeys(run).manifest)).toBe(before);
      expect(await view.batches(run)).toHaveLength(1);
    },
  );

  it('starts the version that waited behind the one that is refused', async () => {
    const starter = createStarter(resources);
    const { files } = starter.deps;
    const key = 'datasets/behind/d.jsonl';
    const bad = await view.upload(key, '');
    let isFirst = true;
    starter.deps.files = {
      ...files,
      async *dataset(upload) {
        if (isFirst) {
          isFirst = false;
          await createStarter(resources).start(await view.upload(key, ROWS));
        }
        yield* files.dataset(upload);
      },
    };
    await starter.start(bad);
    expect(await view.run('behind')).toMatchObject({
      state: 'running',
      pass: 2,
      next_dataset: null,
      planner: null,
    });
    expect(starter.calls).toEqual(['refused behind', 'nudge']);
    const [pass] = (await runFile('behind')).passes;
    expect(pass?.started_at).toMatch(/^2026-01-01/);
  });

  it('gives a plan up whose planner ended three times', async () => {
    const event = await view.upload('datasets/given-up/d.jsonl', ROWS);
    const broken = createStarter(resources);
    broken.deps.planned = {
      put: async () => {
        throw new Error('the table is gone');
      },
      removeFrom: async () => undefined,
    };
    for (let tried = 0; tried < 3; tried += 1) {
      await expect(broken.start(event)).rejects.toThrow('the table is gone');
      expect((await view.run('given-up')).state).toBe('planning');
    }
    await createStarter(resources).start({ resume_planning: 'given-up' });
    expect(await view.run('given-up')).toMatchObject({
      state: 'failed',
      reason: 'its planner ended 3 times before it was done, at last with: the table is gone',
    });
  });

  it('throws for an event that is none of its own', async () => {
    const starter = createStarter(resources);
    await expect(starter.start({ nudge: true })).rejects.toThrow(/expected records of the bucket/);
  });
});
