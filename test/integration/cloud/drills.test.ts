import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  GetFunctionConfigurationCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import type Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batchKey } from '../../../src/adapters/aws/table-keys.ts';
import { launchToken } from '../../../src/core/cloud/launch-token.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { type EndedRun, eventually, PROMPTS, pause, useDrills } from '../../support/drills.ts';
import { hasEmulator } from '../../support/emulator.ts';
import { hasRegistry, type ImageRegistry, startRegistry } from '../../support/image-registry.ts';
import { comparable, comparableStatistics } from '../../support/same-run.ts';

const canRun = hasEmulator() && (await hasDocker()) && hasRegistry();
const [, second, third] = PROMPTS;
/** Two calls a prompt. */
const CALLS = Object.fromEntries(
  PROMPTS.flatMap((of) => [
    [`${of} 0`, 1],
    [`${of} 1`, 1],
  ]),
);
const ROUNDS = 8;

describe.runIf(canRun)('drills of the cloud', { timeout: 600_000, retry: 0 }, () => {
  const drills = useDrills('talaria-drills', batchKey('stored', 0));
  let registry: ImageRegistry;
  let undisturbed: Promise<EndedRun>;
  beforeAll(async () => {
    registry = await startRegistry();
    await drills.upload('undisturbed');
    undisturbed = drills.ended('undisturbed');
    undisturbed.catch(() => undefined);
  }, 60_000);
  afterAll(async () => await registry?.stop());

  /** Holds the drill's run to the undisturbed one, and prints its figures. */
  async function end(run: string, what: string, launches: number[]): Promise<EndedRun> {
    const ended = await drills.ended(run);
    const same = await undisturbed;
    expect(comparable(ended)).toEqual(comparable(same));
    expect(comparableStatistics(ended)).toEqual(comparableStatistics(same));
    expect(ended.batches.map(({ launch }) => launch)).toEqual(launches);
    report(ended, run, what);
    return ended;
  }

  function report({ seconds, batches, attempts }: EndedRun, run: string, what: string) {
    const calls = Object.values(drills.model.calls(run)).reduce((sum, of) => sum + of, 0);
    const launches = batches.map(({ launch }) => launch).join('+');
    const figures = [
      `${seconds.toFixed(0)} s`,
      `launches ${launches}`,
      `model calls ${calls}`,
      `attempts ${attempts.flat().length} of ${batches.flatMap((of) => of.prompts).length} prompts`,
    ];
    process.stdout.write(`drill ${run}: ${what}: done, ${figures.join(', ')}\n`);
  }

  test.concurrent('nothing happens', async () => {
    const ended = await undisturbed;
    expect(ended.trajectories).toHaveLength(PROMPTS.length);
    expect(ended.batches.map(({ launch }) => launch)).toEqual([1, 1]);
    report(ended, 'undisturbed', 'nothing happens');
    expect(drills.model.calls('undisturbed')).toEqual(CALLS);
  });

  test.concurrent('an upload’s event three times, twice of them at once, and late', async () => {
    const { key, versionId } = await drills.upload('uploaded');
    const sequencer = await eventually(
      async () => (await drills.run('uploaded'))?.sequencers[key],
      20,
    );
    const event = { Records: [{ s3: { object: { key, versionId, sequencer } } }] };
    await Promise.all([drills.invoke('starter', event), drills.invoke('starter', event)]);
    await end('uploaded', 'upload event three times', [1, 1]);
    await drills.invoke('starter', event);
    expect(await drills.run('uploaded')).toMatchObject({
      state: 'done',
      pass: 1,
      batches_total: 2,
      next_dataset: null,
    });
    expect(drills.model.calls('uploaded')).toEqual(CALLS);
  });

  test.concurrent('a worker killed in the middle of a batch', async () => {
    const gate = drills.model.hold({ run: 'killed', prompt: second, turn: 1 });
    await drills.upload('killed');
    await gate.held;
    const [task] = await ofBatch('killed', 0);
    await task?.agent.kill({ signal: 'SIGKILL' });
    gate.release();
    const ended = await end('killed', 'SIGKILL in the middle of a batch', [2, 1]);
    expect(ended.attempts[0]?.map(({ launch }) => launch)).toEqual([1, 2]);
    expect(drills.model.calls('killed')).toEqual({
      ...CALLS,
      [`${second} 0`]: 2,
      [`${second} 1`]: 2,
    });
  });

  test.concurrent('a worker killed right after the store of a trajectory', async () => {
    await drills.upload('stored');
    await drills.commitHeld();
    const [task] = await ofBatch('stored', 0);
    await task?.agent.kill({ signal: 'SIGKILL' });
    const ended = await end('stored', 'SIGKILL between a row’s store and its commit', [2, 1]);
    expect(ended.attempts[0]?.map(({ launch }) => launch)).toEqual([1, 2]);
    expect(drills.model.calls('stored')).toEqual(CALLS);
  });

  test.concurrent('the dispatcher called twice at once, again and again', async () => {
    await drills.upload('dispatched');
    const answers: Promise<unknown>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      answers.push(drills.invoke('dispatcher', {}), drills.invoke('dispatcher', {}));
      await pause(500);
    }
    // A failure is told below.
    for (const answer of answers) answer.catch(() => undefined);
    await end('dispatched', `dispatcher called ${2 * ROUNDS} times, two at once`, [1, 1]);
    expect(drills.model.calls('dispatched')).toEqual(CALLS);
    const told = await Promise.all(answers);
    // Some found another at work, or nothing was at once.
    expect(told).toContainEqual({ dispatched: 'busy' });
    expect(told).toContainEqual({ dispatched: 'done' });
    const started = '"message":"started","run":"dispatched"';
    const logged = (await drills.cloud.logs()).split('\n').filter((of) => of.includes(started));
    expect(logged, 'a task for each launch').toHaveLength(2);
  });

  test.concurrent('a task that never starts, once', async () => {
    const token = launchToken(sha256, { run: 'unstarted', batch: 0, launch: 1 });
    // A file where a volume of that launch has to be: its containers can't be made.
    const volumes = join(await emulatorFolder(), 'launches', token);
    await mkdir(dirname(volumes), { recursive: true });
    await writeFile(volumes, '');
    await drills.upload('unstarted');
    const ended = await end('unstarted', 'a task that never starts, once', [2, 1]);
    expect(ended.attempts[0]?.map(({ launch }) => launch)).toEqual([2, 2]);
    expect(drills.model.calls('unstarted')).toEqual(CALLS);
  });

  test.concurrent('an image that does not exist, among good ones', async () => {
    const image = `${registry.host}/none/such:1`;
    await drills.upload('imageless', [
      { prompt: 'edelweiss', image },
      { prompt: 'foxglove', image },
    ]);
    const ended = await drills.ended('imageless');
    const [good, bad] = [comparable(await undisturbed), comparable(ended)];
    expect(bad).toMatchObject(good);
    expect(ended.trajectories).toHaveLength(PROMPTS.length);
    expect(ended.failed.map(({ outcome }) => outcome)).toEqual([
      'failed/image_unavailable',
      'failed/image_unavailable',
    ]);
    expect(ended.failed[0]?.reason).toContain(image);
    expect(ended.batches.map(({ launch }) => launch).sort()).toEqual([0, 1, 1]);
    expect(drills.model.calls('imageless')).toEqual(CALLS);
    report(ended, 'imageless', 'an image that does not exist');
  });

  test.concurrent('every container told to stop at once', async () => {
    const gates = [second, third].map((prompt) =>
      drills.model.hold({ run: 'terminated', prompt, turn: 0 }),
    );
    await drills.upload('terminated');
    await Promise.all(gates.map(({ held }) => held));
    const tasks = await drills.tasks('terminated');
    const containers = tasks.flatMap((task) => task.containers);
    // Agents, and sandboxes that are still needed.
    expect(containers.length).toBeGreaterThanOrEqual(4);
    await Promise.all(
      containers.map((of) => of.kill({ signal: 'SIGTERM' }).catch(() => undefined)),
    );
    // A turn under way is waited for: its answer may be the prompt's end.
    await Promise.all(tasks.map(({ agent }) => eventually(() => toldToStop(agent))));
    for (const gate of gates) gate.release();
    const ended = await end('terminated', 'SIGTERM to all containers', [2, 2]);
    expect(ended.attempts.map((of) => of.map(({ launch }) => launch))).toEqual([[1, 2], [2]]);
    expect(ended.batches.map(({ starts }) => starts)).toEqual([{}, {}]);
    expect(drills.model.calls('terminated')).toEqual({
      ...CALLS,
      [`${second} 0`]: 2,
      [`${third} 0`]: 2,
    });
  });

  // Last: it concerns the whole stack.
  test('a table whose stream delivers nothing', async () => {
    const { MergeName: FunctionName } = drills.cloud.stack.outputs;
    const list = new ListEventSourceMappingsCommand({ FunctionName });
    const { EventSourceMappings: [mapping] = [] } = await lambda().send(list);
    await lambda().send(
      new UpdateEventSourceMappingCommand({ UUID: mapping?.UUID, Enabled: false }),
    );
    await drills.upload('unstreamed');
    await end('unstreamed', 'the stream delivers nothing', [1, 1]);
    expect(drills.model.calls('unstreamed')).toEqual(CALLS);
  });

  const ofBatch = async (run: string, batch: number) =>
    (await drills.tasks(run)).filter((task) => task.batch === batch);

  const lambda = () =>
    new LambdaClient({
      endpoint: drills.cloud.stack.emulator.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });

  async function emulatorFolder(): Promise<string> {
    const { DispatcherName: FunctionName } = drills.cloud.stack.outputs;
    const of = await lambda().send(new GetFunctionConfigurationCommand({ FunctionName }));
    return of.Environment?.Variables?.['EMULATOR_FOLDER'] ?? '';
  }
});

async function toldToStop(agent: Docker.Container): Promise<true | undefined> {
  const logged = await agent.logs({ stdout: true });
  return logged.includes('told to stop') ? true : undefined;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
