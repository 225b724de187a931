import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKeys } from '../../../src/core/cloud/bucket-keys.ts';
import { PLANNER_LEASE_MS } from '../../../src/core/cloud/plan/plan-hold.ts';
import type { RunRecord } from '../../../src/core/cloud/run-record.ts';
import { runFileSchema } from '../../../src/core/run/manifest.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { createCloudView, createStarter, jsonl, s3Event } from '../../support/starter-deps.ts';

const ROWS = jsonl({ prompt: 'a' }, { prompt: 'b' });

describe.skipIf(!hasEmulator())('claims of passes', () => {
  let emulator: Emulator;
  let resources: CloudResources;
  let view: ReturnType<typeof createCloudView>;

  beforeAll(async () => {
    emulator = await startEmulator();
    resources = await makeCloudResources(emulator.endpoint, 'claims');
    view = createCloudView(resources);
  });
  afterAll(() => emulator.stop());

  const passes = async (run: string) =>
    runFileSchema
      .parse(JSON.parse((await view.text(runKeys(run).manifest)) ?? ''))
      .passes.map(({ pass }) => pass);

  it('makes one pass of an event that comes eight times at once', async () => {
    const event = await view.upload('datasets/twice/d.jsonl', ROWS);
    const starters = Array.from({ length: 8 }, () => createStarter(resources));
    await Promise.all(starters.map((starter) => starter.start(event)));
    expect(await view.run('twice')).toMatchObject({ state: 'running', pass: 1, batches_total: 1 });
    expect((await view.messages('twice')).map(({ batch }) => batch)).toEqual([0]);
    expect(starters.flatMap(({ calls }) => calls)).toEqual(['nudge']);
    expect(await passes('twice')).toEqual([1]);
  });

  it('ignores an event that comes again when its pass is done', async () => {
    const starter = createStarter(resources);
    const event = await view.upload('datasets/again/d.jsonl', ROWS);
    await starter.start(event);
    await view.endPass('again');
    await starter.start(event);
    expect(await view.run('again')).toMatchObject({ state: 'done', pass: 1 });
  });

  it('ignores an event that is older than the last one of its key', async () => {
    const starter = createStarter(resources);
    const key = 'datasets/order/d.jsonl';
    await view.upload(key, jsonl({ prompt: 'old' }));
    const {
      Records: [old],
    } = await view.upload(key, jsonl({ prompt: 'old' }));
    const {
      Records: [now],
    } = await view.upload(key, jsonl({ prompt: 'new' }));
    // The shorter one is padded: 0B before 0A1 would be wrong by length and by number.
    await starter.start(s3Event(key, now?.s3.object.versionId, '0B'));
    await view.endPass('order');
    await starter.start(s3Event(key, old?.s3.object.versionId, '0A1'));
    expect(await view.run('order')).toMatchObject({ state: 'done', pass: 1 });
    expect(await view.text(runKeys('order').input(1))).toBe(jsonl({ prompt: 'new' }));
    // A letter's case says nothing.
    await starter.start(s3Event(key, old?.s3.object.versionId, '0b0'));
    expect(await view.run('order')).toMatchObject({ state: 'done', pass: 1 });
    await starter.start(s3Event(key, old?.s3.object.versionId, '0b1'));
    expect(await view.run('order')).toMatchObject({ state: 'running', pass: 2 });
  });

  it.each(['planning', 'running', 'pausing', 'cancelling', 'merging'] as const)(
    'keeps a version that comes while the run is %s, the last one of several',
    async (state) => {
      const name = `busy-${state}`;
      const key = `datasets/${name}/d.jsonl`;
      const starter = createStarter(resources);
      await starter.start(await view.upload(key, ROWS));
      await view.messages(name);
      await view.changeRun(name, { state });
      await starter.start(await view.upload(key, jsonl({ prompt: 'second' })));
      const third = await view.upload(key, jsonl({ prompt: 'third' }));
      await starter.start(third);
      const run = await view.run(name);
      expect(run).toMatchObject({ state, pass: 1 });
      expect(run.next_dataset?.version_id).toBe(third.Records[0]?.s3.object.versionId);
      expect(await view.messages(name)).toEqual([]);
      expect(starter.calls).toEqual(['nudge']);
    },
  );

  it('plans a kept version when the merge has begun its pass', async () => {
    const key = 'datasets/next/d.jsonl';
    const starter = createStarter(resources);
    await starter.start(await view.upload(key, ROWS));
    await starter.start(await view.upload(key, jsonl({ prompt: 'b' }, { prompt: 'c' })));
    const { next_dataset: next, ...run } = await view.run('next');
    // As the merge writes it.
    await view.changeRun('next', {
      state: 'planning',
      pass: run.pass + 1,
      ...(next !== null && { dataset: next }),
      next_dataset: null,
      planner: { owner: '', lease_until: 0, tries: 0 } as unknown as RunRecord['planner'],
      batches_merged: 1,
    });
    await starter.start({ resume_planning: 'next' });
    expect(await view.run('next')).toMatchObject({ state: 'running', pass: 2, planner: null });
    expect(await passes('next')).toEqual([1, 2]);
    // Nothing has an outcome yet, so all of it is owed.
    expect((await view.batches('next')).map(({ batch, pass }) => [batch, pass])).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });

  it('leaves a plan alone that another planner holds, and takes it when its lease has ended', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const event = await view.upload('datasets/held/d.jsonl', ROWS);
    const slow = createStarter(resources);
    const { files } = slow.deps;
    slow.deps.files = {
      ...files,
      replace: async (...of) => {
        await held;
        return await files.replace(...of);
      },
    };
    const planning = slow.start(event);
    while (!(await view.text(runKeys('held').input(1))))
      await new Promise((r) => setTimeout(r, 20));

    const other = createStarter(resources);
    await other.start(event);
    await other.start({ resume_planning: 'held' });
    expect(other.calls).toEqual([]);
    expect(await view.run('held')).toMatchObject({ state: 'planning', planner: { tries: 1 } });

    other.pass(PLANNER_LEASE_MS + 1);
    await other.start({ resume_planning: 'held' });
    expect(other.calls).toEqual(['nudge']);
    release();
    await planning;
    // What it finds is not its own any more: it ends without a word.
    expect(slow.calls).toEqual([]);
    expect((await view.messages('held')).map(({ batch }) => batch)).toEqual([0]);
    expect(await view.run('held')).toMatchObject({ state: 'running', batches_total: 1 });
    expect(await passes('held')).toEqual([1]);
  });

  it('ignores keys that start nothing', async () => {
    const starter = createStarter(resources);
    await starter.start(await view.upload('datasets/deep/er/d.jsonl', ROWS));
    await starter.start(await view.upload('datasets/_bad/d.jsonl', ROWS));
    await starter.start({ Service: 'Amazon S3', Event: 's3:TestEvent', Bucket: 'b' });
    expect(starter.calls).toEqual([]);
    expect(starter.lines.map(({ message }) => message)).toEqual([
      'ignored: no dataset of a run',
      'ignored: no dataset of a run',
    ]);
  });
});
