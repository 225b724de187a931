import { describe, expect, it } from 'vitest';
import { emulatorSettings } from '../../../src/core/cloud/emulator-platform.ts';
import {
  type TaskContainer,
  type TaskImage,
  type TaskSettings,
  taskDefinition,
} from '../../../src/core/cloud/task-definition.ts';
import { diskFor, isTooLarge, sandboxesFor } from '../../../src/core/cloud/task-size.ts';

const GIB = 1024 ** 3;
const SETTINGS: TaskSettings = {
  family: 'talaria',
  cpu: 1024,
  memory: 4096,
  taskRoleArn: 'arn:task',
  executionRoleArn: 'arn:execution',
  workerImages: { amd64: 'worker:1', arm64: 'worker-arm:1' },
  secretArn: 'arn:secret',
  logGroup: '/talaria/tasks',
  region: 'eu-west-1',
  agentEnv: { TABLE_NAME: 'table', WORKER_EXTERNAL_ID: 'only-the-agent' },
};
const IMAGE: TaskImage = {
  pinned: 'debian@sha256:1',
  architecture: 'amd64',
  sandboxes: 2,
  disk: 40,
};

function containers(of: Partial<TaskImage> = {}): Record<string, TaskContainer> {
  const { containerDefinitions } = taskDefinition(SETTINGS, { ...IMAGE, ...of });
  return Object.fromEntries(containerDefinitions.map((container) => [container.name, container]));
}

const sandboxes = (of?: Partial<TaskImage>) =>
  Object.values(containers(of)).filter(({ name }) => name.startsWith('sandbox-'));

describe('task definition for AWS', () => {
  it.each([1, 2, 4, 8] as const)('has %d sandboxes, and at most ten containers', (count) => {
    const { containerDefinitions, volumes } = taskDefinition(SETTINGS, {
      ...IMAGE,
      sandboxes: count,
    });
    expect(containerDefinitions).toHaveLength(count + 2);
    expect(containerDefinitions.length).toBeLessThanOrEqual(10);
    expect(volumes).toHaveLength(count + 1);
    expect(volumes.every(({ host }) => host === undefined)).toBe(true);
  });

  it('gives keys, external id and table to the agent alone', () => {
    for (const { name, secrets, environment } of Object.values(containers())) {
      expect(secrets?.map(({ name: of }) => of)).toEqual(
        name === 'agent' ? ['MODEL_KEYS'] : undefined,
      );
      if (name !== 'agent') expect(environment).toBeUndefined();
    }
  });

  it('keeps sandboxes apart: own socket, runtime read-only, no capability to forge packets', () => {
    const seen = sandboxes().map(({ mountPoints }) => mountPoints);
    expect(seen).toEqual(
      [0, 1].map((number) => [
        { sourceVolume: 'runtime', containerPath: '/.talaria', readOnly: true },
        { sourceVolume: `socket-${number}`, containerPath: '/.talaria-io', readOnly: false },
      ]),
    );
    for (const sandbox of sandboxes()) {
      expect(sandbox).toMatchObject({
        image: 'debian@sha256:1',
        essential: false,
        entryPoint: ['/.talaria/busybox', 'sh', '/.talaria/entry.sh'],
        command: ['listen'],
        memory: 3584,
        memoryReservation: 32,
        linuxParameters: { capabilities: { drop: ['NET_RAW'] } },
      });
      expect(sandbox).not.toHaveProperty('healthCheck');
    }
  });

  it('starts init, then sandboxes, then the agent, which is told first to stop', () => {
    const { init, agent } = containers();
    expect(init).toMatchObject({ essential: false, user: '0', command: ['init'] });
    expect(init?.dependsOn).toBeUndefined();
    const afterInit = { containerName: 'init', condition: 'SUCCESS' };
    for (const { dependsOn } of sandboxes()) expect(dependsOn).toEqual([afterInit]);
    expect(agent?.dependsOn).toEqual([
      afterInit,
      { containerName: 'sandbox-0', condition: 'START' },
      { containerName: 'sandbox-1', condition: 'START' },
    ]);
    expect(agent).toMatchObject({ essential: true, stopTimeout: 120, command: ['agent'] });
    const mounted = agent?.mountPoints.map(({ containerPath }) => containerPath);
    expect(mounted).toEqual(['/.talaria-io/0', '/.talaria-io/1']);
  });

  it('runs what the image is made for, with its registry’s login', () => {
    const arm = taskDefinition(SETTINGS, {
      ...IMAGE,
      architecture: 'arm64',
      credentialsArn: 'arn:login',
    });
    expect(arm.runtimePlatform?.cpuArchitecture).toBe('ARM64');
    const images = arm.containerDefinitions.map(({ name, image, repositoryCredentials: of }) => [
      name,
      image,
      of?.credentialsParameter,
    ]);
    expect(images).toEqual([
      ['init', 'worker-arm:1', undefined],
      ['sandbox-0', 'debian@sha256:1', 'arn:login'],
      ['sandbox-1', 'debian@sha256:1', 'arn:login'],
      ['agent', 'worker-arm:1', undefined],
    ]);
  });

  it('has no shared processes', () => {
    expect(taskDefinition(SETTINGS, IMAGE)).not.toHaveProperty('pidMode');
    expect(taskDefinition(SETTINGS, IMAGE).networkMode).toBe('awsvpc');
  });
});

describe('task definition for an emulator', () => {
  const { ownDefinition } = emulatorSettings('/folder', 'http://127.0.0.1:4566');
  const definition = ownDefinition(taskDefinition(SETTINGS, IMAGE), 'token');

  it('has folders of the launch, and the runtime of all', () => {
    expect(definition.networkMode).toBe('host');
    expect(definition).not.toHaveProperty('runtimePlatform');
    expect(definition.volumes.map(({ host }) => host?.sourcePath)).toEqual([
      '/folder/runtime',
      '/folder/launches/token/socket-0',
      '/folder/launches/token/socket-1',
    ]);
  });

  it('starts sandboxes by a command alone, and waits for nothing', () => {
    for (const { name, entryPoint, command, dependsOn } of definition.containerDefinitions) {
      expect(entryPoint).toBeUndefined();
      expect(dependsOn).toBeUndefined();
      if (name.startsWith('sandbox-')) expect(command).toEqual(['/.talaria/entry.sh', 'listen']);
    }
  });

  it('tells the agent alone where the emulator is', () => {
    for (const { name, environment = [] } of definition.containerDefinitions) {
      const names = environment.map((of) => of.name);
      expect(names.includes('AWS_ENDPOINT_URL')).toBe(name === 'agent');
    }
  });
});

describe('size of a task', () => {
  it.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [5, 8],
    [8, 8],
  ])('%d prompts: %d sandboxes', (owed, count) => {
    expect(sandboxesFor(owed)).toBe(count);
  });

  it('has the stack’s disk, and more for a large image, within Fargate’s bounds', () => {
    expect(diskFor(0, 40)).toBe(40);
    expect(diskFor(5 * GIB, 40)).toBe(40);
    expect(diskFor(10 * GIB, 40)).toBe(80);
    expect(diskFor(100 * GIB, 40)).toBe(200);
    expect(diskFor(0, 1)).toBe(21);
    expect(isTooLarge(40 * GIB)).toBe(false);
    expect(isTooLarge(60 * GIB)).toBe(true);
  });
});
