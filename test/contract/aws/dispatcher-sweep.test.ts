import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listObjects } from '../../../src/adapters/aws/list-objects.ts';
import { runKeys } from '../../../src/core/cloud/bucket-keys.ts';
import { dispatch } from '../../../src/core/cloud/dispatch/dispatch.ts';
import { plannerSchema } from '../../../src/core/cloud/run-record.ts';
import { batchRecord, runRecord } from '../../support/dispatch-records.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import {
  BUDGET_MS,
  launchedDispatch,
  MINUTE_MS,
  type ScriptedDispatch,
  scriptedDispatch,
} from '../../support/scripted-dispatch.ts';
import { trajectoryRow } from '../../unit/trajectory/trajectory-row.ts';

describe.skipIf(!hasEmulator())('sweep of the dispatcher', () => {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator();
  }, 60_000);
  afterAll(() => emulator.stop());
  const fixture = () => scriptedDispatch(emulator.endpoint);

  /** Stores the row of a launch that died before it committed it. */
  async function storeRow(at: ScriptedDispatch, run: string, position: number, launch: number) {
    const { prompts } = await at.batch(run, 0);
    const row = trajectoryRow(position);
    row.metadata.prompt_id = `${prompts[position]?.hash}-0`;
    row.timing.attempt = 1;
    const { bucket } = at.resources;
    const Key = runKeys(run).sample(0, position, launch);
    const Body = JSON.stringify(row);
    await bucket.client.send(new PutObjectCommand({ Bucket: bucket.name, Key, Body }));
  }

  it('has a plan resumed whose planner died, in planning and while messages are missing', async () => {
    const at = await fixture();
    const { clock } = at.deps;
    const planner = (until: number) =>
      plannerSchema.parse({ owner: 'x', lease_until: until, tries: 1 });
    await at.putRun(runRecord('dead', { state: 'planning', planner: planner(clock.now()) }));
    await at.putRun(runRecord('sending', { planner: planner(clock.now()) }));
    await at.putRun(
      runRecord('alive', { state: 'planning', planner: planner(clock.now() + MINUTE_MS) }),
    );

    await dispatch(at.deps, BUDGET_MS);

    expect(at.asked.toSorted()).toEqual(['plan dead', 'plan sending']);
  });

  it('has a batch merged again that is closed for five minutes, at most once in five', async () => {
    const at = await fixture();
    const closed = { state: 'closed' as const, remaining: 0 };
    const now = at.deps.clock.now();
    await at.putRun(runRecord('run'));
    const batch = batchRecord('run', 0, { ...closed, closed_at: now, lease_until: now });
    await at.putBatch(batch, { message: false });

    await dispatch(at.deps, BUDGET_MS);
    expect(at.asked).toEqual([]);
    at.jump(5 * MINUTE_MS);
    await dispatch(at.deps, BUDGET_MS);
    await dispatch(at.deps, BUDGET_MS);
    expect(at.asked).toEqual(['merge run 0']);
    at.jump(5 * MINUTE_MS);
    await dispatch(at.deps, BUDGET_MS);
    expect(at.asked).toEqual(['merge run 0', 'merge run 0']);
  });

  it('has runs merged that are complete, or whose merge died', async () => {
    const at = await fixture();
    const { clock } = at.deps;
    const complete = { batches_total: 2, batches_merged: 2 };
    await at.putRun(runRecord('complete', complete));
    await at.putRun(runRecord('dead', { ...complete, state: 'merging' }));
    await at.putRun(
      runRecord('alive', {
        ...complete,
        state: 'merging',
        merge_lease_until: clock.now() + MINUTE_MS,
      }),
    );
    await at.putRun(runRecord('open', { batches_total: 2, batches_merged: 1 }));
    await at.putRun(runRecord('done', { ...complete, state: 'done' }));

    await dispatch(at.deps, BUDGET_MS);

    expect(at.asked.toSorted()).toEqual(['merge complete', 'merge dead']);
  });

  it('deletes stored rows a day after a run has ended, of no other run, and no others', async () => {
    const at = await fixture();
    const { bucket } = at.resources;
    const put = (Key: string) =>
      bucket.client.send(new PutObjectCommand({ Bucket: bucket.name, Key, Body: 'x' }));
    const keysOf = async (run: string) => {
      const found: string[] = [];
      for await (const { key } of listObjects(bucket, `runs/${run}/`)) found.push(key);
      return found;
    };
    // The objects' times are the emulator's, which the tests' clock has to reach first.
    at.jump(Date.now() - at.deps.clock.now());
    const updated_at = new Date(at.deps.clock.now()).toISOString();
    const all = { batches_total: 1, batches_merged: 1, updated_at };
    await at.putRun(runRecord('done', { ...all, state: 'done' }));
    await at.putRun(runRecord('paused', { ...all, state: 'paused' }));
    for (const run of ['done', 'done2', 'paused']) {
      await put(runKeys(run).sample(0, 0, 1));
      await put(runKeys(run).sample(12, 7, 2));
      await put(runKeys(run).batch('batch', 0));
    }

    at.jump(23 * 60 * MINUTE_MS);
    await dispatch(at.deps, BUDGET_MS);
    expect(await keysOf('done')).toHaveLength(3);
    at.jump(2 * 60 * MINUTE_MS);
    await dispatch(at.deps, BUDGET_MS);
    expect(await keysOf('done')).toEqual([runKeys('done').batch('batch', 0)]);
    expect(await at.run('done')).toMatchObject({ samples_deleted_pass: 1 });
    expect(await keysOf('done2')).toHaveLength(3);
    expect(await keysOf('paused')).toHaveLength(3);

    // A later pass's rows, younger than a day when it ends.
    await at.putRun(runRecord('done', { ...all, state: 'done', pass: 2, samples_deleted_pass: 1 }));
    await put(runKeys('done').sample(1, 0, 1));
    const young = { before: Date.now() - MINUTE_MS, most: 10 };
    expect(await at.deps.oldSamples.deleteSamples('done', young)).toBe(0);
    expect(await keysOf('done')).toHaveLength(2);
  });

  it('takes back a batch that no launch has', async () => {
    const at = await fixture();
    await at.putRun(runRecord('run'));
    const left = { state: 'running' as const, launch: 3, lease_until: 0 };
    await at.putBatch(batchRecord('run', 0, left), { message: false });

    await dispatch(at.deps, BUDGET_MS);

    expect(await at.batch('run', 0)).toMatchObject({ state: 'launching', launch: 4 });
  });

  it('pauses a run when its last launch has ended, and goes on when it is resumed', async () => {
    const at = await launchedDispatch(emulator.endpoint);
    await at.deps.runs.move('run', { from: 'running', to: 'pausing', now: 1 });
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.run('run')).toMatchObject({ state: 'pausing', active: 1 });
    await at.set('run', 0, { state: 'waiting', lease_until: 0 });
    at.fleet.end(0);
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.run('run')).toMatchObject({ state: 'paused', active: 0 });
    expect(at.asked).toEqual(['merge run']);
    expect(at.fleet.tasks).toHaveLength(1);

    await at.deps.runs.move('run', { from: 'paused', to: 'running', now: 2 });
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.batch('run', 0)).toMatchObject({ state: 'launching', launch: 2 });
  });

  it('closes the open batches of a cancelled run, and adopts what was paid for', async () => {
    const at = await launchedDispatch(emulator.endpoint);
    await at.putBatch(batchRecord('run', 1));
    await at.deps.runs.move('run', { from: 'running', to: 'cancelling', now: 1 });
    await storeRow(at, 'run', 1, 1);
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.batch('run', 1)).toMatchObject({ state: 'queued' });
    at.fleet.end(0, { code: 'UserInitiated', reason: 'talaria: cancelled' });

    await dispatch(at.deps, BUDGET_MS);
    await dispatch(at.deps, BUDGET_MS);

    const batch = await at.batch('run', 0);
    expect(batch).toMatchObject({ state: 'closed', remaining: 0, unfinished: 0 });
    const attempts = await at.attempts('run', 0);
    expect(attempts.map(({ sample_key: key, entry }) => [key, entry])).toMatchObject([
      ['', { outcome: 'failed/cancelled' }],
      [runKeys('run').sample(0, 1, 1), { outcome: 'completed', adopted: true }],
    ]);
    expect(await at.prompt(batch.prompts[1]?.hash ?? '', 'run')).toMatchObject({
      outcome: 'completed',
    });
    expect(await at.batch('run', 1)).toMatchObject({ state: 'closed', remaining: 0 });
    expect(await at.attempts('run', 1)).toHaveLength(2);
    expect(await at.active()).toBe(0);
    expect(await at.messages()).toBe(1);
  });

  it('takes definitions out of use that nobody started for a week', async () => {
    const at = await launchedDispatch(emulator.endpoint);
    const [[family, definition] = []] = at.fleet.registered;
    if (family === undefined || definition === undefined) throw new Error('nothing is registered');
    const others = family.replace('talaria-', 'talaria-demo-');
    await at.fleet.register(others, definition);
    at.jump(6 * 24 * 60 * MINUTE_MS);
    await dispatch(at.deps, BUDGET_MS);
    expect(at.fleet.registered.size).toBe(2);
    at.jump(24 * 60 * MINUTE_MS);
    await dispatch(at.deps, BUDGET_MS);
    expect([...at.fleet.registered.keys()]).toEqual([others]);
  });
});
