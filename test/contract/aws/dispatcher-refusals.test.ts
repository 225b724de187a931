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
});
