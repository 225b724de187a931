import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dispatcher } from '../../../functions/dispatcher/dispatcher.ts';
import { dispatch } from '../../../src/core/cloud/dispatch/dispatch.ts';
import type { TaskStop } from '../../../src/core/cloud/launch-record.ts';
import { WILLING_REGISTRY } from '../../support/dispatch-fixture.ts';
import { batchRecord, runRecord } from '../../support/dispatch-records.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import {
  BUDGET_MS,
  launchedDispatch,
  MINUTE_MS,
  scriptedDispatch,
} from '../../support/scripted-dispatch.ts';

const NO_SECRETS: Partial<TaskStop> = {
  code: 'TaskFailedToStart',
  reason: 'ResourceInitializationError: unable to pull secrets or registry auth',
};

describe.skipIf(!hasEmulator())('ends of launches', () => {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator();
  }, 60_000);
  afterAll(() => emulator.stop());

  const fixture = (settings = {}, registry = WILLING_REGISTRY) =>
    scriptedDispatch(emulator.endpoint, settings, registry);
  const launched = (settings?: Parameters<typeof launchedDispatch>[1]) =>
    launchedDispatch(emulator.endpoint, settings);

  it('ends a launch once, by event or by looking, however often it is told', async () => {
    const at = await launched();
    await at.set('run', 0, { state: 'closed', remaining: 0 });
    const { launch, arn } = at.fleet.end(0);
    const event = {
      source: 'aws.ecs',
      'detail-type': 'ECS Task State Change',
      detail: {
        taskArn: arn,
        lastStatus: 'STOPPED',
        startedBy: launch.token,
        stopCode: 'EssentialContainerExited',
        stoppedReason: 'Essential container in task exited',
        containers: [{ name: 'agent', exitCode: 0 }],
      },
    };
    await Promise.all([
      dispatcher(event, at.deps, MINUTE_MS),
      dispatcher(event, at.deps, MINUTE_MS),
      dispatcher(event, at.deps, MINUTE_MS),
    ]);
    await dispatcher(event, at.deps, MINUTE_MS);
    await dispatcher({}, at.deps, MINUTE_MS);

    expect(await at.active()).toBe(0);
    expect(await at.run('run')).toMatchObject({ active: 0 });
    expect(await at.batch('run', 0)).toMatchObject({ state: 'closed', launch: 1 });
  });

  it('goes on with two launches of one batch, the first of which is still ending', async () => {
    const at = await launched();
    const { clock } = at.deps;
    // Handed back, and its task has not stopped yet.
    await at.set('run', 0, { state: 'waiting', lease_until: clock.now() });
    for (let round = 0; round < 3; round += 1) await dispatch(at.deps, BUDGET_MS);
    expect(at.fleet.tasks.map(({ launch }) => launch.launch)).toEqual([1, 2]);
    expect(at.fleet.stops).toEqual(["talaria: its batch is another launch's"]);
    await at.set('run', 0, { state: 'closed', remaining: 0 });
    at.fleet.end(0);
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.active()).toBe(0);
  });

  it('notes an end that an event tells while another dispatcher is at work', async () => {
    const at = await launched({ sweepEveryMs: MINUTE_MS });
    const { launch, arn } = at.fleet.end(0);
    const { lease, clock } = at.deps;
    await lease.acquire('other', clock.now(), clock.now() + MINUTE_MS);
    const detail = { taskArn: arn, lastStatus: 'STOPPED', startedBy: launch.token };
    const event = { 'detail-type': 'ECS Task State Change', detail };

    expect(await dispatcher(event, at.deps, MINUTE_MS)).toEqual({ dispatched: 'busy' });
    expect(await at.active()).toBe(1);
    // Told to look again, it keeps the lease, and looks.
    expect(await lease.release('other')).toBe(false);
    expect(await lease.release('other')).toBe(true);
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.active()).toBe(0);
  });

  it('starts a batch again that its worker left in the middle, with care', async () => {
    const at = await launched();
    const { clock } = at.deps;
    const running = { state: 'running' as const, lease_until: clock.now() + 3 * MINUTE_MS };
    await at.set('run', 0, { ...running, starts: { 0: 1, 1: 2 }, remaining: 1 });
    at.fleet.end(0, { reason: 'OutOfMemoryError: container killed' });

    await dispatch(at.deps, BUDGET_MS);

    expect(at.fleet.tasks).toHaveLength(2);
    expect(at.fleet.tasks[1]?.launch).toMatchObject({ launch: 2, sandboxes: 1 });
    const batch = await at.batch('run', 0);
    expect(batch).toMatchObject({ state: 'launching', launch: 2, careful: true });
    expect(batch.starts).toEqual({ 0: 1, 1: 2 });
    expect(await at.active()).toBe(1);
  });

  it('counts no start where Spot took the task', async () => {
    const at = await launched();
    const { clock } = at.deps;
    const running = { state: 'running' as const, lease_until: clock.now() + 3 * MINUTE_MS };
    await at.set('run', 0, { ...running, starts: { 0: 1, 1: 0 } });
    at.fleet.end(0, { code: 'SpotInterruption', reason: 'Your Spot Task was interrupted.' });

    await dispatch(at.deps, BUDGET_MS);

    expect((await at.batch('run', 0)).starts).toEqual({ 0: 0, 1: 0 });
  });

  it('stops a task whose lease ran out, and starts another when it has stopped', async () => {
    const at = await launched();
    const { clock } = at.deps;
    const running = { state: 'running' as const, lease_until: clock.now() + 3 * MINUTE_MS };
    await at.set('run', 0, { ...running, starts: { 0: 1 } });
    await dispatch(at.deps, BUDGET_MS);
    expect(at.fleet.stops).toEqual([]);
    at.jump(3 * MINUTE_MS + 1);
    const [task] = at.fleet.tasks;
    // Until ECS says that it has stopped, nothing else starts.
    const stuck = {
      ...at.deps.fleet,
      stop: async (_: string, why: string) => void at.fleet.stops.push(why),
    };
    await dispatch({ ...at.deps, fleet: stuck }, BUDGET_MS);
    expect(at.fleet.stops).toEqual(['talaria: its lease ran out']);
    expect(at.fleet.tasks).toHaveLength(1);
    expect(task?.stop).toBeUndefined();

    await dispatch(at.deps, BUDGET_MS);
    await dispatch(at.deps, BUDGET_MS);
    expect(at.fleet.tasks).toHaveLength(2);
    expect(await at.batch('run', 0)).toMatchObject({ launch: 2, careful: true });
    expect(await at.active()).toBe(1);
  });

  it('stops a task that nobody claimed the batch from, and one whose work has ended', async () => {
    const at = await launched();
    at.jump(15 * MINUTE_MS + 1);
    await dispatch(at.deps, BUDGET_MS);
    expect(at.fleet.stops).toEqual(['talaria: its lease ran out']);
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.batch('run', 0)).toMatchObject({ state: 'waiting', unclaimed: 1 });

    const done = await launched();
    await done.set('run', 0, { state: 'closed', remaining: 0, closed_at: done.deps.clock.now() });
    done.jump(11 * MINUTE_MS);
    await dispatch(done.deps, BUDGET_MS);
    expect(done.fleet.stops).toEqual(['talaria: its work has ended']);
  });

  it('pauses a run after ten stops in a row that are no image’s fault', async () => {
    const at = await fixture();
    await at.putRun(runRecord('run', { stops_unclaimed: 8 }));
    await at.putBatch(batchRecord('run', 0));
    await dispatch(at.deps, BUDGET_MS);
    at.fleet.end(0, NO_SECRETS);
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.run('run')).toMatchObject({ state: 'running', stops_unclaimed: 9 });
    // It waits longer each time.
    await dispatch(at.deps, BUDGET_MS);
    expect(at.fleet.tasks).toHaveLength(1);
    at.jump(11_000);
    await dispatch(at.deps, BUDGET_MS);
    at.fleet.end(0, NO_SECRETS);
    await dispatch(at.deps, BUDGET_MS);

    const run = await at.run('run');
    expect(run.state).toBe('paused');
    expect(run.reason).toContain('unable to pull secrets');
    expect(await at.batch('run', 0)).toMatchObject({
      state: 'waiting',
      remaining: 2,
      unclaimed: 2,
    });
  });

  it('begins to count anew when a worker is seen at work', async () => {
    const at = await launched();
    at.fleet.end(0, NO_SECRETS);
    await dispatch(at.deps, BUDGET_MS);
    at.jump(15 * MINUTE_MS);
    await dispatch(at.deps, BUDGET_MS);
    const running = { state: 'running' as const, lease_until: at.deps.clock.now() + MINUTE_MS };
    await at.set('run', 0, running);
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.run('run')).toMatchObject({ stops_unclaimed: 1 });
    await at.set('run', 0, { starts: { 0: 1 } });
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.run('run')).toMatchObject({ stops_unclaimed: 0 });
  });

  // Left in the middle, and handed back.
  it.each(['running', 'waiting'] as const)(
    'counts a worker that does nothing (%s)',
    async (state) => {
      const at = await launched();
      await at.set('run', 0, { state, lease_until: at.deps.clock.now() + MINUTE_MS });
      at.fleet.end(0);
      await dispatch(at.deps, BUDGET_MS);

      expect(await at.run('run')).toMatchObject({ stops_unclaimed: 1, active: 0 });
      const batch = await at.batch('run', 0);
      expect(batch).toMatchObject({ state: 'waiting', launch: 1 });
      expect(batch.lease_until).toBeGreaterThan(at.deps.clock.now());
    },
  );
});
