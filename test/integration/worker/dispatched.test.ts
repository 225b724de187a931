import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateClusterCommand, ECSClient } from '@aws-sdk/client-ecs';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEcsFleet } from '../../../src/adapters/aws/ecs-fleet.ts';
import { dispatch } from '../../../src/core/cloud/dispatch/dispatch.ts';
import { emulatorRegistry, emulatorSettings } from '../../../src/core/cloud/emulator-platform.ts';
import { planBatch } from '../../support/cloud-batch.ts';
import { makeDispatchFixture, WILLING_REGISTRY } from '../../support/dispatch-fixture.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeImage } from '../../support/docker-images.ts';
import { testRuntime } from '../../support/docker-sandboxes.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { makeWorkerImage } from '../../support/worker-image.ts';

const canRun = hasEmulator() && (await hasDocker());
const BUDGET_MS = 50_000;
const SOON = { timeout: 120_000, interval: 500 };

describe.runIf(canRun)('a worker that the dispatcher starts', { timeout: 240_000 }, () => {
  const docker = new Docker();
  const folder = join(tmpdir(), `talaria-dispatched-${randomUUID()}`);
  let emulator: Emulator;
  let clusterArn = '';
  let secretArn = '';

  beforeAll(async () => {
    emulator = await startEmulator();
    const { endpoint } = emulator;
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const client = { endpoint, region: 'us-east-1', credentials };
    const ecs = new ECSClient(client);
    const { cluster } = await ecs.send(new CreateClusterCommand({ clusterName: 'workers' }));
    clusterArn = cluster?.clusterArn ?? '';
    const secret = new CreateSecretCommand({ Name: 'keys', SecretString: '{}' });
    secretArn = (await new SecretsManagerClient(client).send(secret)).ARN ?? '';
    mkdirSync(folder);
    symlinkSync(await testRuntime(docker), join(folder, 'runtime'));
  }, 120_000);
  afterAll(async () => {
    await emulator?.stop();
    const label = { label: [`com.amazonaws.ecs.cluster=${clusterArn}`] };
    for (const { Id } of await docker.listContainers({ all: true, filters: label })) {
      await docker.getContainer(Id).remove({ force: true, v: true });
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it('runs the batch in sandboxes of the image, and ends with its task', async () => {
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const { endpoint } = emulator;
    const fleet = createEcsFleet(new ECSClient({ endpoint, region: 'us-east-1', credentials }), {
      clusterArn,
      subnetIds: ['subnet-1'],
      securityGroupIds: ['sg-1'],
      assignPublicIp: 'ENABLED',
      tags: {},
    });
    const image = await makeImage(docker, 'user');
    const at = await makeDispatchFixture(endpoint, {
      fleet,
      registry: emulatorRegistry(WILLING_REGISTRY),
      settings: { ...emulatorSettings(folder, endpoint), defaultImage: image },
    });
    const { task } = at.deps.settings;
    const settings = {
      ...at.deps.settings,
      task: {
        ...task,
        workerImages: { amd64: await makeWorkerImage(docker) },
        secretArn,
        agentEnv: {
          ...task.agentEnv,
          AWS_REGION: 'us-east-1',
          WORKER_ROLE_ARN: 'arn:aws:iam::000000000000:role/worker',
          WORKER_EXTERNAL_ID: 'external-id',
        },
      },
    };
    const deps = { ...at.deps, settings };
    const rows = [{ prompt: 'one' }, { prompt: 'two', cwd: 'folder' }, { prompt: 'three' }];
    const batch = await planBatch(at.resources, { run: 'dispatched', rows });
    await batch.setRun({ active: 0 });
    await at.send(await batch.record());

    await dispatch(deps, BUDGET_MS);
    await expect.poll(async () => (await batch.record()).state, SOON).toBe('closed');
    const ended = await batch.ended();
    expect(ended.map((item) => item?.['outcome'])).toEqual(['completed', 'completed', 'completed']);
    const [attempt] = await at.attempts(batch.run, batch.batch);
    expect(attempt).toMatchObject({ launch: 1, entry: { image } });
    await expect
      .poll(async () => {
        await dispatch(deps, BUDGET_MS);
        return await at.active();
      }, SOON)
      .toBe(0);
    expect(await batch.record()).toMatchObject({ state: 'closed', launch: 1, starts: {} });
  });
});
