import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dispatch } from '../../../src/core/cloud/dispatch/dispatch.ts';
import { WILLING_REGISTRY } from '../../support/dispatch-fixture.ts';
import { batchRecord, runRecord } from '../../support/dispatch-records.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { BUDGET_MS, scriptedDispatch } from '../../support/scripted-dispatch.ts';

describe.skipIf(!hasEmulator())('launches of the dispatcher', () => {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator();
  }, 60_000);
  afterAll(() => emulator.stop());

  const fixture = (settings = {}, registry = WILLING_REGISTRY) =>
    scriptedDispatch(emulator.endpoint, settings, registry);

  it('launches a queued batch once, counted in run and stack', async () => {
    const at = await fixture();
    await at.putRun(runRecord('one'));
    await at.putBatch(batchRecord('one', 0, { prompts: 3 }));

    expect(await dispatch(at.deps, BUDGET_MS)).toBe('done');

    const { tasks } = at.fleet;
    expect(tasks).toHaveLength(1);
    expect(tasks[0]?.launch).toMatchObject({ run_name: 'one', batch: 0, sandboxes: 4 });
    const arn = tasks[0]?.arn;
    expect(await at.batch('one', 0)).toMatchObject({
      state: 'launching',
      launch: 1,
      task_arn: arn,
    });
    expect(await at.run('one')).toMatchObject({ active: 1 });
    expect(await at.active()).toBe(1);
    expect(await at.messages()).toBe(0);
  });

  it('launches a batch once for two messages, in one receive or in two', async () => {
    const at = await fixture();
    await at.putRun(runRecord('twice'));
    const batch = batchRecord('twice', 0);
    await at.putBatch(batch);
    await at.send(batch);
    await dispatch(at.deps, BUDGET_MS);
    await at.send(batch);
    await dispatch(at.deps, BUDGET_MS);

    expect(at.fleet.tasks).toHaveLength(1);
    expect(await at.active()).toBe(1);
    expect(await at.messages()).toBe(0);
  });

  it('lets one of two dispatchers work, which looks again for the other', async () => {
    const at = await fixture();
    await at.putRun(runRecord('both', { num_workers: 100 }));
    for (let batch = 0; batch < 6; batch++) await at.putBatch(batchRecord('both', batch));

    const answers = await Promise.all([
      dispatch(at.deps, BUDGET_MS),
      dispatch(at.deps, BUDGET_MS),
      dispatch(at.deps, BUDGET_MS),
    ]);

    expect(answers.toSorted()).toEqual(['busy', 'busy', 'done']);
    expect(at.fleet.tasks.map(({ launch }) => launch.batch).toSorted()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await at.active()).toBe(6);
    expect((await at.deps.lease.read()).lease_until).toBe(0);
  });

  it('writes nothing twice where two dispatchers both believe to be the one', async () => {
    const at = await fixture();
    await at.putRun(runRecord('split', { num_workers: 3 }));
    for (let batch = 0; batch < 5; batch++) await at.putBatch(batchRecord('split', batch));
    // A lease that is given to whoever asks.
    const lease = { ...at.deps.lease, acquire: async () => true, renew: async () => true };

    await Promise.all([
      dispatch({ ...at.deps, lease }, BUDGET_MS),
      dispatch({ ...at.deps, lease }, BUDGET_MS),
    ]);

    const tokens = at.fleet.tasks.map(({ launch }) => launch.token);
    expect(new Set(tokens).size).toBe(tokens.length);
    expect(at.fleet.tasks).toHaveLength(3);
    expect(await at.run('split')).toMatchObject({ active: 3 });
    expect(await at.active()).toBe(3);
    expect(await at.deps.launches.list()).toHaveLength(3);
  });

  it('takes over a lease that ran out, not one that is held', async () => {
    const at = await fixture();
    const { lease, clock } = at.deps;
    await at.putRun(runRecord('lease'));
    await at.putBatch(batchRecord('lease', 0));
    await lease.acquire('dead', clock.now(), clock.now() + 60_000);

    expect(await dispatch(at.deps, BUDGET_MS)).toBe('busy');
    expect(await lease.read()).toMatchObject({ owner: 'dead', again: true });
    expect(at.fleet.tasks).toHaveLength(0);
    at.jump(60_001);
    expect(await dispatch(at.deps, BUDGET_MS)).toBe('done');
    expect(at.fleet.tasks).toHaveLength(1);
    expect(await lease.renew('dead', clock.now() + 60_000)).toBe(false);
  });

  it('lets the rest of a run wait without messages, and goes on as launches end', async () => {
    const at = await fixture();
    await at.putRun(runRecord('full', { num_workers: 2 }));
    await at.putRun(runRecord('other', { num_workers: 1 }));
    for (let batch = 0; batch < 5; batch++) await at.putBatch(batchRecord('full', batch));
    await at.putBatch(batchRecord('other', 10));
    await at.putBatch(batchRecord('other', 11));

    await dispatch(at.deps, BUDGET_MS);
    expect(at.fleet.tasks).toHaveLength(3);
    expect(await at.run('full')).toMatchObject({ active: 2 });
    const started = () => at.fleet.tasks.filter(({ launch }) => launch.run_name === 'full');
    const first = started()[0]?.launch.batch ?? -1;
    await at.set('full', first, { state: 'closed', remaining: 0 });
    at.fleet.end(first);
    await dispatch(at.deps, BUDGET_MS);
    expect(started()).toHaveLength(3);
    expect(await at.run('full')).toMatchObject({ active: 2 });
    expect(await at.active()).toBe(3);
  });

  it('holds the stack to maxTasks, and the message of a stopped run waits', async () => {
    const at = await fixture({ maxTasks: 2 });
    await at.putRun(runRecord('wide', { num_workers: 9 }));
    await at.putRun(runRecord('still', { state: 'paused' }));
    await at.putBatch(batchRecord('still', 0));
    for (let batch = 0; batch < 4; batch++) await at.putBatch(batchRecord('wide', batch));

    await dispatch(at.deps, BUDGET_MS);
    await dispatch(at.deps, BUDGET_MS);

    expect(at.fleet.tasks).toHaveLength(2);
    expect(await at.active()).toBe(2);
    expect((await at.batch('still', 0)).launch).toBe(0);
  });

  it('shares what is free among runs in turn', async () => {
    const at = await fixture({ maxTasks: 4 });
    for (const run of ['a', 'b']) {
      await at.putRun(runRecord(run, { num_workers: 9 }));
      for (let batch = 0; batch < 9; batch++) {
        const waits = { state: 'waiting' as const, lease_until: 0 };
        await at.putBatch(batchRecord(run, batch, waits), { message: false });
      }
    }

    await dispatch(at.deps, BUDGET_MS);

    expect(at.fleet.tasks.map(({ launch }) => launch.run_name).toSorted()).toEqual([
      'a',
      'a',
      'b',
      'b',
    ]);
  });

  it('sends a queued batch again whose message was lost, when it could be launched', async () => {
    const at = await fixture();
    await at.putRun(runRecord('lost'));
    await at.putBatch(batchRecord('lost', 0), { message: false });

    await dispatch(at.deps, BUDGET_MS);
    expect(at.fleet.tasks).toHaveLength(0);
    at.jump(121_000);
    await dispatch(at.deps, BUDGET_MS);
    expect(at.fleet.tasks).toHaveLength(1);
  });

  it('removes messages about nothing', async () => {
    const at = await fixture();
    await at.putRun(runRecord('odd'));
    await at.send(batchRecord('odd', 7));
    await at.send(batchRecord('nobody', 0));

    await dispatch(at.deps, BUDGET_MS);

    expect(at.fleet.tasks).toHaveLength(0);
    expect(await at.messages()).toBe(0);
  });

  it('registers one definition for an image and a size, and uses it again', async () => {
    const at = await fixture();
    await at.putRun(runRecord('define', { num_workers: 9 }));
    for (const [batch, prompts] of [8, 8, 7, 2, 1].entries()) {
      await at.putBatch(batchRecord('define', batch, { prompts }));
    }
    await at.putBatch(batchRecord('define', 5, { prompts: 8, image: 'registry.test/other:1' }));
    await dispatch(at.deps, BUDGET_MS);

    expect(at.fleet.tasks).toHaveLength(6);
    expect(at.fleet.registered.size).toBe(4);
    const sizes = [...at.fleet.registered.values()].map(
      ({ containerDefinitions: containers }) => containers.length - 2,
    );
    expect(sizes.toSorted()).toEqual([1, 2, 8, 8]);
  });
});
