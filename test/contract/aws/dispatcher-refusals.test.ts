import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dispatch } from '../../../src/core/cloud/dispatch/dispatch.ts';
import { WILLING_REGISTRY } from '../../support/dispatch-fixture.ts';
import { batchRecord, runRecord } from '../../support/dispatch-records.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { BUDGET_MS, MINUTE_MS, scriptedDispatch } from '../../support/scripted-dispatch.ts';

describe.skipIf(!hasEmulator())('starts that are refused', () => {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator();
  }, 60_000);
  afterAll(() => emulator.stop());

  const fixture = (settings = {}, registry = WILLING_REGISTRY) =>
    scriptedDispatch(emulator.endpoint, settings, registry);

  it('goes from Spot to on demand under another launch number, at once', async () => {
    const at = await fixture({ spot: true });
    await at.putRun(runRecord('run'));
    await at.putBatch(batchRecord('run', 0));
    at.fleet.answers.push({ refused: 'capacity', words: 'Capacity is unavailable at this time' });

    await dispatch(at.deps, BUDGET_MS);

    expect(at.fleet.tasks).toHaveLength(1);
    expect(at.fleet.tasks[0]?.launch).toMatchObject({ launch: 2, spot: false });
    expect(await at.run('run')).toMatchObject({ active: 1, stops_unclaimed: 0 });
    expect(await at.active()).toBe(1);
  });

  it('starts nothing more while there is no room, and waits', async () => {
    const at = await fixture();
    await at.putRun(runRecord('run', { num_workers: 9 }));
    for (let batch = 0; batch < 9; batch++) await at.putBatch(batchRecord('run', batch));
    const words = 'You’ve reached the limit on the number of vCPUs';
    at.fleet.answers.push({ refused: 'capacity', words });

    await dispatch(at.deps, BUDGET_MS);

    // Those that were claimed before the answer came.
    expect(at.fleet.tasks.length).toBeLessThan(6);
    expect(await at.active()).toBe(at.fleet.tasks.length);
    expect(await at.run('run')).toMatchObject({ active: at.fleet.tasks.length });
  });

  it('registers a definition anew that ECS no longer takes', async () => {
    const at = await fixture();
    await at.putRun(runRecord('run'));
    await at.putBatch(batchRecord('run', 0));
    at.fleet.answers.push({ refused: 'definition', words: 'TaskDefinition is inactive' });
    await dispatch(at.deps, BUDGET_MS);
    at.fleet.registered.clear();
    at.jump(15 * MINUTE_MS);
    await dispatch(at.deps, BUDGET_MS);

    expect(at.fleet.registered.size).toBe(1);
    expect(at.fleet.tasks).toHaveLength(1);
  });

  it('lets others go on where one batch can not be launched', async () => {
    const at = await fixture();
    await at.putRun(runRecord('run'));
    await at.putBatch(batchRecord('run', 0, { image: 'registry.test/odd:1' }));
    await at.putBatch(batchRecord('run', 1));
    const register: typeof at.fleet.register = async (family, definition) => {
      if (JSON.stringify(definition).includes('odd')) throw new Error('ClientException: odd');
      return await at.fleet.register(family, definition);
    };

    await dispatch({ ...at.deps, fleet: { ...at.fleet, register } }, BUDGET_MS);

    expect(at.fleet.tasks.map(({ launch }) => launch.batch)).toEqual([1]);
    expect(await at.batch('run', 0)).toMatchObject({ state: 'waiting', unclaimed: 1, launch: 0 });
    expect(await at.run('run')).toMatchObject({ stops_unclaimed: 1, active: 1 });
    expect(await at.messages()).toBe(0);
  });

  it('lets others go on where one launch can not be ended', async () => {
    const at = await fixture();
    await at.putRun(runRecord('run'));
    await at.putBatch(batchRecord('run', 0));
    await at.putBatch(batchRecord('run', 1));
    await dispatch(at.deps, BUDGET_MS);
    await at.set('run', 0, { state: 'closed', remaining: 0 });
    await at.set('run', 1, { state: 'closed', remaining: 0 });
    at.fleet.end(0);
    at.fleet.end(1);
    const end: typeof at.deps.launches.end = async (launch, ...of) => {
      if (launch.batch === 0) throw new Error('odd');
      return await at.deps.launches.end(launch, ...of);
    };

    await dispatch({ ...at.deps, launches: { ...at.deps.launches, end } }, BUDGET_MS);
    expect(await at.active()).toBe(1);
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.active()).toBe(0);
  });
});
