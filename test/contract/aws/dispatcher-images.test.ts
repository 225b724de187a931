import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dispatch } from '../../../src/core/cloud/dispatch/dispatch.ts';
import type { TaskStop } from '../../../src/core/cloud/launch-record.ts';
import { ImageGoneError, RegistryBusyError } from '../../../src/core/ports/image-registry.ts';
import { WILLING_REGISTRY } from '../../support/dispatch-fixture.ts';
import { batchRecord, runRecord } from '../../support/dispatch-records.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import {
  BUDGET_MS,
  launchedDispatch,
  MINUTE_MS,
  scriptedDispatch,
} from '../../support/scripted-dispatch.ts';

const CANNOT_PULL: Partial<TaskStop> = {
  code: 'TaskFailedToStart',
  reason:
    'CannotPullContainerError: pull image manifest has been retried 1 time(s): manifest unknown',
};

describe.skipIf(!hasEmulator())('images of launches', () => {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator();
  }, 60_000);
  afterAll(() => emulator.stop());

  const fixture = (settings = {}, registry = WILLING_REGISTRY) =>
    scriptedDispatch(emulator.endpoint, settings, registry);

  it('ends the batches of an image that is not to be had, without a task', async () => {
    const at = await fixture(
      {},
      {
        resolve: async (reference, of) => {
          if (reference.includes('gone')) throw new ImageGoneError('no such image');
          return await WILLING_REGISTRY.resolve(reference, of);
        },
      },
    );
    await at.putRun(runRecord('images'));
    await at.putBatch(batchRecord('images', 0, { image: 'registry.test/gone:1', prompts: 2 }));
    await at.putBatch(batchRecord('images', 1, { image: 'registry.test/fine:1' }));

    await dispatch(at.deps, BUDGET_MS);

    expect(at.fleet.tasks.map(({ launch }) => launch.batch)).toEqual([1]);
    const batch = await at.batch('images', 0);
    expect(batch).toMatchObject({ state: 'closed', remaining: 0, launch: 0 });
    expect(batch.closed_at).toBeGreaterThan(0);
    const attempts = await at.attempts('images', 0);
    expect(attempts).toHaveLength(2);
    expect(attempts[0]?.['entry']).toMatchObject({
      outcome: 'failed/image_unavailable',
      image: 'registry.test/gone:1',
      reason: 'registry.test/gone:1: no such image',
    });
    const hash = batch.prompts[0]?.hash ?? '';
    expect(await at.prompt(hash, 'images')).toMatchObject({ outcome: 'failed/image_unavailable' });
    expect(await at.active()).toBe(1);
  });

  it('waits where a registry gives no answer, and pauses the run in the end', async () => {
    const at = await fixture(
      {},
      {
        resolve: async () => {
          throw new RegistryBusyError('registry.test answered 503');
        },
      },
    );
    await at.putRun(runRecord('busy', { stops_unclaimed: 8 }));
    await at.putBatch(batchRecord('busy', 0));

    await dispatch(at.deps, BUDGET_MS);
    expect(await at.batch('busy', 0)).toMatchObject({ state: 'waiting', unclaimed: 1, launch: 0 });
    at.jump(11_000);
    await dispatch(at.deps, BUDGET_MS);
    await dispatch(at.deps, BUDGET_MS);
    const run = await at.run('busy');
    expect(run.state).toBe('paused');
    expect(run.reason).toContain('gives no answer');
    expect(at.asked).toEqual(['merge busy']);
  });

  it('gives up an image after three starts that it is to blame for', async () => {
    const at = await launchedDispatch(emulator.endpoint);
    for (let start = 1; start <= 3; start += 1) {
      expect(at.fleet.tasks).toHaveLength(start);
      at.fleet.end(0, CANNOT_PULL);
      await dispatch(at.deps, BUDGET_MS);
      at.jump(15 * MINUTE_MS);
      await dispatch(at.deps, BUDGET_MS);
    }

    expect(at.fleet.tasks).toHaveLength(3);
    expect(await at.batch('run', 0)).toMatchObject({ state: 'closed', remaining: 0 });
    const [attempt] = await at.attempts('run', 0);
    expect(attempt?.['entry']).toMatchObject({ outcome: 'failed/image_unavailable' });
    expect(JSON.stringify(attempt?.['entry'])).toContain('manifest unknown');
    expect(await at.run('run')).toMatchObject({ state: 'running', stops_unclaimed: 0, active: 0 });
    expect(await at.active()).toBe(0);
  });

  it('forgets failed starts of an image when one of its tasks works', async () => {
    const at = await launchedDispatch(emulator.endpoint);
    for (let start = 1; start <= 2; start += 1) {
      at.fleet.end(0, CANNOT_PULL);
      await dispatch(at.deps, BUDGET_MS);
      at.jump(15 * MINUTE_MS);
      await dispatch(at.deps, BUDGET_MS);
    }
    const image = () => at.deps.runs.image('run', 'registry.test/default:1');
    expect((await image())?.failed_starts).toBe(2);
    await at.set('run', 0, { state: 'closed', remaining: 0 });
    at.fleet.end(0);
    await dispatch(at.deps, BUDGET_MS);
    expect((await image())?.failed_starts).toBe(0);
  });

  it('asks again in a later pass about an image that could not be had', async () => {
    let isThere = false;
    const at = await fixture(
      {},
      {
        resolve: async (reference, of) => {
          if (!isThere) throw new ImageGoneError('no such image');
          return await WILLING_REGISTRY.resolve(reference, of);
        },
      },
    );
    const run = runRecord('late');
    await at.putRun(run);
    await at.putBatch(batchRecord('late', 0));
    await dispatch(at.deps, BUDGET_MS);
    isThere = true;
    await at.putBatch(batchRecord('late', 1));
    await dispatch(at.deps, BUDGET_MS);
    expect(at.fleet.tasks).toHaveLength(0);
    expect(await at.batch('late', 1)).toMatchObject({ state: 'closed' });

    await at.putRun({ ...run, pass: 2 });
    await at.putBatch(batchRecord('late', 2, { pass: 2 }));
    await dispatch(at.deps, BUDGET_MS);

    expect(at.fleet.tasks.map(({ launch }) => launch.batch)).toEqual([2]);
    expect(await at.deps.runs.image('late', 'registry.test/default:1')).toMatchObject({
      problem: '',
      pass: 2,
    });
  });
});
