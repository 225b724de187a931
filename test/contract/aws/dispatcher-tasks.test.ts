import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateClusterCommand,
  DescribeTasksCommand,
  ECSClient,
  ListTasksCommand,
} from '@aws-sdk/client-ecs';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEcsFleet } from '../../../src/adapters/aws/ecs-fleet.ts';
import { dispatch } from '../../../src/core/cloud/dispatch/dispatch.ts';
import { emulatorRegistry, emulatorSettings } from '../../../src/core/cloud/emulator-platform.ts';
import {
  type DispatchFixture,
  makeDispatchFixture,
  WILLING_REGISTRY,
} from '../../support/dispatch-fixture.ts';
import { batchRecord, runRecord } from '../../support/dispatch-records.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeImage } from '../../support/docker-images.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';

const BUDGET_MS = 50_000;
const ENTRY = `#!/.talaria/busybox sh
trap "exit 143" TERM
until [ -e /.talaria-io/end ]; do /.talaria/busybox sleep 0.1; done
exit "$(/.talaria/busybox cat /.talaria-io/end)"
`;

const canRun = hasEmulator() && (await hasDocker());

describe.skipIf(!canRun)('tasks of the dispatcher, as containers', () => {
  const docker = new Docker();
  const folder = join(tmpdir(), `talaria-tasks-${randomUUID()}`);
  let emulator: Emulator;
  let ecs: ECSClient;
  let clusterArn: string;
  let secretArn: string;
  let images: { worker: string; sandbox: string };

  beforeAll(async () => {
    emulator = await startEmulator();
    const client = {
      endpoint: emulator.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    };
    ecs = new ECSClient(client);
    const { cluster } = await ecs.send(new CreateClusterCommand({ clusterName: 'tasks' }));
    clusterArn = cluster?.clusterArn ?? '';
    const { ARN = '' } = await new SecretsManagerClient(client).send(
      new CreateSecretCommand({ Name: 'keys', SecretString: '{"model.test":"sk-of-the-agent"}' }),
    );
    secretArn = ARN;
    images = {
      worker: await makeImage(docker, 'idle-worker'),
      sandbox: await makeImage(docker, 'static'),
    };
    mkdirSync(join(folder, 'runtime'), { recursive: true });
    copyFileSync('/bin/busybox', join(folder, 'runtime', 'busybox'));
    writeFileSync(join(folder, 'runtime', 'entry.sh'), ENTRY, { mode: 0o755 });
  }, 120_000);

  afterAll(async () => {
    await emulator.stop();
    const label = { label: [`com.amazonaws.ecs.cluster=${clusterArn}`] };
    for (const { Id } of await docker.listContainers({ all: true, filters: label })) {
      await docker.getContainer(Id).remove({ force: true, v: true });
    }
    rmSync(folder, { recursive: true, force: true });
  });

  async function fixture(of: { worker?: string; sandbox?: string } = {}): Promise<DispatchFixture> {
    const fleet = createEcsFleet(ecs, {
      clusterArn,
      subnetIds: ['subnet-1'],
      securityGroupIds: ['sg-1'],
      assignPublicIp: 'ENABLED',
      tags: { 'talaria:family': 'talaria' },
    });
    const at = await makeDispatchFixture(emulator.endpoint, {
      fleet,
      registry: emulatorRegistry(WILLING_REGISTRY),
      settings: {
        ...emulatorSettings(folder, emulator.endpoint),
        defaultImage: of.sandbox ?? images.sandbox,
      },
    });
    const { lingerMs: _, ...settings } = at.deps.settings;
    const task = {
      ...settings.task,
      workerImages: { amd64: of.worker ?? images.worker },
      secretArn,
    };
    return { ...at, deps: { ...at.deps, settings: { ...settings, task } } };
  }

  async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < 300; tries += 1) {
      if (await isSo()) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('waited 30 s in vain');
  }

  /** Sockets of a launch. */
  function socket(token: string, number: number, file: string): string {
    return join(folder, 'launches', token, `socket-${number}`, file);
  }

  async function launched(at: DispatchFixture) {
    const [launch] = await at.deps.launches.list();
    if (launch === undefined) throw new Error('nothing was launched');
    return launch;
  }

  async function stateOf(arn: string): Promise<string> {
    const { tasks = [] } = await ecs.send(
      new DescribeTasksCommand({ cluster: clusterArn, tasks: [arn] }),
    );
    return tasks[0]?.lastStatus ?? '';
  }

  it('starts agent and sandboxes with what each may know, and sees them end', async () => {
    const at = await fixture();
    await at.putRun(runRecord('real'));
    await at.putBatch(batchRecord('real', 0, { prompts: 2 }));

    await dispatch(at.deps, BUDGET_MS);
    const launch = await launched(at);
    expect(launch.task_arn).not.toBe('');
    await until(() => existsSync(socket(launch.token, 0, 'agent.env')));

    const agent = readFileSync(socket(launch.token, 0, 'agent.env'), 'utf8');
    expect(agent).toContain('MODEL_KEYS={"model.test":"sk-of-the-agent"}');
    for (const line of ['RUN_NAME=real', 'BATCH=0', 'LAUNCH=1', 'SANDBOXES=2']) {
      expect(agent.split('\n')).toContain(line);
    }
    await until(async () => (await stateOf(launch.task_arn)) === 'RUNNING');
    const containers = await docker.listContainers({
      filters: { label: [`com.amazonaws.ecs.task-arn=${launch.task_arn}`] },
    });
    const seen = await Promise.all(containers.map(({ Id }) => docker.getContainer(Id).inspect()));
    const sandboxes = seen.filter(({ Name }) => Name.includes('sandbox-'));
    expect(sandboxes).toHaveLength(2);
    for (const { Config, Mounts } of sandboxes) {
      expect(Config.Env.join('\n')).not.toContain('sk-of-the-agent');
      expect(Mounts.map(({ Destination, RW }) => [Destination, RW]).toSorted()).toEqual([
        ['/.talaria', false],
        ['/.talaria-io', true],
      ]);
    }
    const sources = sandboxes.map(
      ({ Mounts }) => Mounts.find(({ Destination }) => Destination === '/.talaria-io')?.Source,
    );
    expect(new Set(sources).size).toBe(2);

    await at.set('real', 0, { state: 'closed', remaining: 0 });
    writeFileSync(socket(launch.token, 0, 'end'), '0');
    await until(async () => (await stateOf(launch.task_arn)) === 'STOPPED');
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.active()).toBe(0);
    expect(await at.deps.launches.list()).toEqual([]);
    expect(await at.batch('real', 0)).toMatchObject({ state: 'closed', launch: 1 });
  }, 60_000);

  it('finds the task of a launch whose answer was lost, and starts no second one', async () => {
    const at = await fixture();
    await at.putRun(runRecord('lost'));
    await at.putBatch(batchRecord('lost', 0, { prompts: 1 }));
    const { fleet } = at.deps;
    const start = async (...of: Parameters<typeof fleet.start>) => {
      await fleet.start(...of);
      throw new Error('socket hang up');
    };
    await dispatch({ ...at.deps, fleet: { ...fleet, start } }, BUDGET_MS);
    const { token } = await launched(at);
    expect(await at.batch('lost', 0)).toMatchObject({ state: 'launching', task_arn: '' });

    await dispatch(at.deps, BUDGET_MS);

    const arn = (await launched(at)).task_arn;
    expect(arn).not.toBe('');
    expect(await at.batch('lost', 0)).toMatchObject({ launch: 1, task_arn: arn });
    const { taskArns } = await ecs.send(
      new ListTasksCommand({ cluster: clusterArn, startedBy: token }),
    );
    expect(taskArns).toEqual([arn]);

    // A worker that renews no lease any more is stopped, and then another one starts.
    await until(async () => (await stateOf(arn)) === 'RUNNING');
    at.jump(16 * 60_000);
    await dispatch(at.deps, BUDGET_MS);
    expect(await stateOf(arn)).toBe('STOPPED');
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.batch('lost', 0)).toMatchObject({ state: 'waiting', unclaimed: 1 });
    at.jump(11_000);
    await dispatch(at.deps, BUDGET_MS);
    expect(await at.batch('lost', 0)).toMatchObject({ state: 'launching', launch: 2 });
    expect(await at.active()).toBe(1);
  }, 60_000);

  it('blames an image whose containers can not start', async () => {
    const at = await fixture();
    await at.putRun(runRecord('broken'));
    await at.putBatch(batchRecord('broken', 0, { prompts: 1 }));
    const ownDefinition = emulatorSettings(join(folder, 'empty'), emulator.endpoint).ownDefinition;
    const settings = { ...at.deps.settings, ownDefinition };
    await dispatch({ ...at.deps, settings }, BUDGET_MS);
    const { task_arn: arn } = await launched(at);
    await until(async () => (await stateOf(arn)) === 'STOPPED');

    await dispatch(at.deps, BUDGET_MS);

    const image = await at.deps.runs.image('broken', images.sandbox);
    expect(image?.failed_starts).toBe(1);
    expect(await at.run('broken')).toMatchObject({ stops_unclaimed: 0, active: 0 });
    expect(await at.batch('broken', 0)).toMatchObject({ state: 'waiting', unclaimed: 1 });
  }, 60_000);
});
