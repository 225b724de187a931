import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { imageKeyOf } from '../../../src/adapters/aws/image-key.ts';
import { dispatch } from '../../../src/core/cloud/dispatch/dispatch.ts';
import { WILLING_REGISTRY } from '../../support/dispatch-fixture.ts';
import { batchRecord, runRecord } from '../../support/dispatch-records.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { BUDGET_MS, launchedDispatch, scriptedDispatch } from '../../support/scripted-dispatch.ts';

describe.skipIf(!hasEmulator())('launches of dispatchers that died or raced', () => {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator();
  }, 60_000);
  afterAll(() => emulator.stop());

  const fixture = (settings = {}, registry = WILLING_REGISTRY) =>
    scriptedDispatch(emulator.endpoint, settings, registry);
  const launched = (settings?: Parameters<typeof launchedDispatch>[1]) =>
    launchedDispatch(emulator.endpoint, settings);

  it('starts the task of a claim whose dispatcher died before RunTask', async () => {
    const at = await fixture();
    await at.putRun(runRecord('run'));
    await at.putBatch(batchRecord('run', 0));
    const start = () => Promise.reject(new Error('the power went'));
    const died = { ...at.deps, fleet: { ...at.deps.fleet, start } };
    await dispatch(died, BUDGET_MS);
    expect(at.fleet.tasks).toHaveLength(0);
    expect(await at.batch('run', 0)).toMatchObject({ state: 'launching', launch: 1 });

    await dispatch(at.deps, BUDGET_MS);

    expect(at.fleet.tasks).toHaveLength(1);
    expect(at.fleet.tasks[0]?.launch).toMatchObject({ launch: 1 });
    expect(await at.batch('run', 0)).toMatchObject({ state: 'launching', task_arn: 'arn:task/0' });
    expect(await at.active()).toBe(1);
  });

  it('finds the task of a RunTask whose answer was lost', async () => {
    const at = await fixture();
    await at.putRun(runRecord('run'));
    await at.putBatch(batchRecord('run', 0));
    at.fleet.answers.push(new Error('socket hang up'));
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.batch('run', 0)).toMatchObject({ state: 'launching', task_arn: '' });

    await dispatch(at.deps, BUDGET_MS);

    expect(at.fleet.tasks).toHaveLength(1);
    expect(await at.batch('run', 0)).toMatchObject({ task_arn: 'arn:task/0', launch: 1 });
    expect(await at.active()).toBe(1);
  });

  it('lowers the counters once where several end a launch at the same time', async () => {
    const at = await launched();
    const [launch] = await at.deps.launches.list();
    if (launch === undefined) throw new Error('nothing was launched');
    const end = { change: undefined, image: 'reset', run: 'reset' } as const;
    const ends = () => at.deps.launches.end(launch, end, undefined);

    const answers = await Promise.all([ends(), ends(), ends()]);

    expect(answers.toSorted()).toEqual(['ended', 'gone', 'gone']);
    expect(await ends()).toBe('gone');
    expect(await at.active()).toBe(0);
    expect(await at.run('run')).toMatchObject({ active: 0 });
  });

  it('ends a launch whose image nobody knows', async () => {
    const at = await launched();
    const { table } = at.resources;
    const Key = imageKeyOf('run', 'registry.test/default:1');
    await table.client.send(new DeleteCommand({ TableName: table.name, Key }));
    await at.set('run', 0, { state: 'closed', remaining: 0 });
    at.fleet.end(0);
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.active()).toBe(0);
    expect(await at.run('run')).toMatchObject({ active: 0 });
  });
});
