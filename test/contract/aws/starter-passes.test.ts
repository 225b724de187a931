import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKeys, uploadKeys } from '../../../src/core/cloud/bucket-keys.ts';
import { runFileSchema } from '../../../src/core/run/manifest.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { createCloudView, createStarter, jsonl } from '../../support/starter-deps.ts';

describe.skipIf(!hasEmulator())('later passes', () => {
  let emulator: Emulator;
  let resources: CloudResources;
  let view: ReturnType<typeof createCloudView>;

  beforeAll(async () => {
    emulator = await startEmulator();
    resources = await makeCloudResources(emulator.endpoint, 'passes');
    view = createCloudView(resources);
  });
  afterAll(() => emulator.stop());

  const runFile = async (run: string) =>
    runFileSchema.parse(JSON.parse((await view.text(runKeys(run).manifest)) ?? ''));
  const upload = async (run: string, ...rows: object[]) =>
    await view.upload(`datasets/${run}/d.jsonl`, jsonl(...rows));
  /** What batches hold, as text. */
  const planOf = async (run: string) =>
    (await view.batches(run)).map(
      ({ pass, batch, prompts }) =>
        `${pass}/${batch}: ${prompts.map((of) => `${of.index}.${of.sample}#${of.occurrence}+${of.attempts_before}`).join(' ')}`,
    );

  it('plans what is not done, by prompt and not by place', async () => {
    const starter = createStarter(resources);
    await view.put(
      uploadKeys('later').config,
      JSON.stringify({ batch_size: 3, samples_per_prompt: 2 }),
    );
    await starter.start(await upload('later', { prompt: 'a' }, { prompt: 'b' }, { prompt: 'a' }));
    expect(await planOf('later')).toEqual([
      '1/0: 0.0#0+0 0.1#1+0 1.0#0+0',
      '1/1: 1.1#1+0 2.0#2+0 2.1#3+0',
    ]);

    const [first, second] = await view.batches('later');
    const [a0, a1, b0] = first?.prompts ?? [];
    const [b1, a2] = second?.prompts ?? [];
    if (!a0 || !a1 || !b0 || !b1 || !a2) throw new Error('no prompts');
    await view.putOutcome('later', a0, 'completed', 1);
    await view.putOutcome('later', a1, 'failed/sandbox_lost', 3);
    await view.putOutcome('later', b0, 'partial/turns', 2);
    await view.putOutcome('later', b1, 'discarded/invalid_tool', 1);
    await view.putOutcome('later', a2, 'failed/credits', 1);
    await view.endPass('later');
    await starter.start(
      await upload('later', { prompt: 'new' }, { prompt: 'a' }, { prompt: 'b' }, { prompt: 'a' }),
    );
    expect((await planOf('later')).slice(2)).toEqual([
      '2/2: 0.0#0+0 0.1#1+0 1.1#1+3',
      '2/3: 3.0#2+1 3.1#3+0',
    ]);
    expect(await view.run('later')).toMatchObject({ batches_total: 4, batches_merged: 2 });
  });

  it('sends a pass that owes nothing to its merge', async () => {
    const starter = createStarter(resources);
    await starter.start(await upload('nothing', { prompt: 'a' }));
    const [batch] = await view.batches('nothing');
    for (const of of batch?.prompts ?? []) await view.putOutcome('nothing', of, 'completed', 1);
    await view.endPass('nothing');
    await starter.start(await upload('nothing', { prompt: 'a' }));
    expect(await view.run('nothing')).toMatchObject({
      state: 'running',
      pass: 2,
      batches_total: 1,
    });
    expect(starter.calls).toEqual(['nudge', 'merge nothing', 'nudge']);
    const { passes } = await runFile('nothing');
    // The same dataset: its input is there already.
    expect(passes.map(({ input_of_pass: of }) => of)).toEqual([1, 1]);
  });

  it('keeps what a later pass does not give, and counts over 100 prompts in calls', async () => {
    const starter = createStarter(resources);
    const rows = Array.from({ length: 230 }, (_, at) => ({ prompt: `p${at}` }));
    await view.put(
      uploadKeys('keep').config,
      JSON.stringify({
        batch_size: 8,
        num_workers: 7,
        max_samples: 230,
        max_attempts: 5,
        default_image: 'x',
      }),
    );
    await starter.start(await upload('keep', ...rows));
    for (const batch of (await view.batches('keep')).slice(1)) {
      for (const of of batch.prompts) await view.putOutcome('keep', of, 'completed', 1);
    }
    await view.endPass('keep');
    await view.put(
      uploadKeys('keep').config,
      JSON.stringify({ num_workers: 9, max_samples: null }),
    );
    await starter.start(await upload('keep', ...rows));
    expect((await planOf('keep')).slice(29)).toEqual([
      '2/29: 0.0#0+0 1.0#0+0 2.0#0+0 3.0#0+0 4.0#0+0 5.0#0+0 6.0#0+0 7.0#0+0',
    ]);
    expect(await view.run('keep')).toMatchObject({
      num_workers: 9,
      max_attempts: 5,
      default_image: 'x',
    });
  });

  it('goes on in another invocation when time runs short, from where it was', async () => {
    const rows = Array.from({ length: 6 }, (_, at) => ({ prompt: 'p', image: `i${at}` }));
    const event = await upload('long', ...rows);
    const put: number[] = [];
    let left = 900_000;
    const going: { run: string; owner: string; hops: number }[] = [];
    const invocation = () => {
      const starter = createStarter(resources, {
        remainingMs: () => left,
        goOn: async (of) => void going.push(of),
      });
      const { planned } = starter.deps;
      starter.deps.planned = {
        ...planned,
        async put(batch) {
          put.push(batch.batch);
          if (put.length % 3 === 0) left = 1_000;
          return await planned.put(batch);
        },
      };
      return starter;
    };
    await invocation().start(event);
    expect(going.map(({ hops }) => hops)).toEqual([1]);
    expect(await view.run('long')).toMatchObject({
      state: 'planning',
      planner: { batches_put: 3, tries: 1 },
    });
    expect(await view.messages('long')).toEqual([]);
    // Nobody else takes it meanwhile.
    await invocation().start({ resume_planning: 'long' });
    for (let hop = 0; hop < going.length; hop += 1) {
      left = 900_000;
      await invocation().start({ continue_planning: going[hop] });
    }
    expect(going.map(({ hops }) => hops)).toEqual([1, 2]);
    expect(put).toEqual([0, 1, 2, 3, 4, 5]);
    expect((await view.messages('long')).map(({ batch }) => batch)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await view.run('long')).toMatchObject({ state: 'running', planner: null });
    // Of one that is over, nothing comes.
    await invocation().start({ continue_planning: going[0] });
    expect(put).toHaveLength(6);
  });

  it('reads a dataset anew with all the time there is, and refuses one that takes more', async () => {
    const event = await upload(
      'slow',
      ...Array.from({ length: 9 }, () => ({ prompt: 'p'.repeat(200_000) })),
    );
    const going: { run: string; owner: string; hops: number }[] = [];
    const short = () =>
      createStarter(resources, {
        remainingMs: () => 1_000,
        goOn: async (of) => void going.push(of),
      });
    await short().start(event);
    expect(going.map(({ hops }) => hops)).toEqual([1]);
    expect(await view.run('slow')).toMatchObject({ state: 'planning', planner: { tries: 1 } });
    await short().start({ continue_planning: going[0] });
    expect(await view.run('slow')).toMatchObject({
      state: 'failed',
      reason:
        'd.jsonl: expected a dataset that can be read within one invocation, got a larger one',
    });
    expect(going).toHaveLength(1);
    expect(await view.text(runKeys('slow').input(1))).toBeUndefined();
  });

  it('puts over what a plan left that never came to run', async () => {
    const left = createStarter(resources);
    const { claims } = left.deps;
    left.deps.claims = {
      ...claims,
      start: async () => {
        throw new Error('the table is gone');
      },
    };
    const many = await upload(
      'left',
      ...Array.from({ length: 9 }, (_, at) => ({ prompt: `${at}` })),
    );
    for (let tried = 0; tried < 3; tried += 1)
      await expect(left.start(many)).rejects.toThrow('gone');
    await createStarter(resources).start({ resume_planning: 'left' });
    expect(await view.run('left')).toMatchObject({ state: 'failed', pass: 1 });
    expect(await view.batches('left')).toHaveLength(3);
    const next = createStarter(resources);
    const { batches } = next.deps;
    next.deps.batches = {
      ...batches,
      close: async () => {
        throw new Error('nobody counts them: they must not be merged');
      },
    };
    await next.start(await upload('left', { prompt: 'x' }));
    expect(await planOf('left')).toEqual(['2/0: 0.0#0+0']);
    expect(await view.run('left')).toMatchObject({ state: 'running', batches_total: 1 });
  });
});
