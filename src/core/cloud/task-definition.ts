import type { SandboxCount } from './task-size.ts';

export type Architecture = 'amd64' | 'arm64';

/** What is the same for every task of the stack. */
export interface TaskSettings {
  /** Prefix of the families. */
  family: string;
  /** CPU units and MiB. */
  cpu: number;
  memory: number;
  taskRoleArn: string;
  executionRoleArn: string;
  workerImages: Readonly<Partial<Record<Architecture, string>>>;
  /** Secret with the model keys: for the agent alone. */
  secretArn: string;
  logGroup: string;
  region: string;
  /** Of the agent, for every launch the same. */
  agentEnv: Readonly<Record<string, string>>;
}

/** What differs between images and sizes. */
export interface TaskImage {
  /** `name@sha256:…` */
  pinned: string;
  architecture: Architecture;
  /** Secret with the login of its registry. */
  credentialsArn?: string | undefined;
  sandboxes: SandboxCount;
  /** GiB. */
  disk: number;
}

interface MountPoint {
  sourceVolume: string;
  containerPath: string;
  readOnly: boolean;
}

/** A container, in the words of RegisterTaskDefinition. */
export interface TaskContainer {
  name: string;
  image: string;
  essential: boolean;
  user?: string;
  entryPoint?: string[];
  command: string[];
  environment?: { name: string; value: string }[];
  secrets?: { name: string; valueFrom: string }[];
  mountPoints: MountPoint[];
  dependsOn?: { containerName: string; condition: 'SUCCESS' | 'START' }[];
  memory?: number;
  memoryReservation?: number;
  stopTimeout?: number;
  repositoryCredentials?: { credentialsParameter: string };
  linuxParameters?: { capabilities: { drop: string[] } };
  logConfiguration?: { logDriver: 'awslogs'; options: Record<string, string> };
}

/** Input of RegisterTaskDefinition, but for the family. */
export interface TaskDefinition {
  requiresCompatibilities: ['FARGATE'];
  networkMode: 'awsvpc' | 'host';
  cpu: string;
  memory: string;
  taskRoleArn: string;
  executionRoleArn: string;
  runtimePlatform?: { operatingSystemFamily: 'LINUX'; cpuArchitecture: 'X86_64' | 'ARM64' };
  ephemeralStorage: { sizeInGiB: number };
  volumes: { name: string; host?: { sourcePath: string } }[];
  containerDefinitions: TaskContainer[];
}

export const AGENT = 'agent';
const INIT = 'init';
export const RUNTIME_VOLUME = 'runtime';
/** Where every container finds them. */
const RUNTIME_PATH = '/.talaria';
const SOCKET_PATH = '/.talaria-io';
export const SANDBOX_ENTRY = `${RUNTIME_PATH}/entry.sh`;
/** MiB that sandboxes leave to the agent: their end for want of memory is not its end. */
const AGENT_MEMORY = 512;
const SANDBOX_RESERVATION = 32;
/** Fargate's most, in seconds. */
const STOP_TIMEOUT = 120;

const sandboxName = (number: number) => `sandbox-${number}`;
const socketVolume = (number: number) => `socket-${number}`;

/** The task definition of an image and a size; free of run, batch and launch, so that many share it. */
export function taskDefinition(settings: TaskSettings, of: TaskImage): TaskDefinition {
  const workerImage = settings.workerImages[of.architecture];
  if (workerImage === undefined) throw new Error(`no worker image for ${of.architecture}`);
  const numbers = Array.from({ length: of.sandboxes }, (_, number) => number);
  const sockets = numbers.map((number) => mount(socketVolume(number), `${SOCKET_PATH}/${number}`));
  const afterInit = { containerName: INIT, condition: 'SUCCESS' as const };
  return {
    requiresCompatibilities: ['FARGATE'],
    networkMode: 'awsvpc',
    cpu: String(settings.cpu),
    memory: String(settings.memory),
    taskRoleArn: settings.taskRoleArn,
    executionRoleArn: settings.executionRoleArn,
    runtimePlatform: {
      operatingSystemFamily: 'LINUX',
      cpuArchitecture: of.architecture === 'arm64' ? 'ARM64' : 'X86_64',
    },
    ephemeralStorage: { sizeInGiB: of.disk },
    volumes: [{ name: RUNTIME_VOLUME }, ...numbers.map((n) => ({ name: socketVolume(n) }))],
    containerDefinitions: [
      {
        name: INIT,
        image: workerImage,
        essential: false,
        // Fresh volumes belong to root.
        user: '0',
        command: ['init'],
        mountPoints: [mount(RUNTIME_VOLUME, RUNTIME_PATH), ...sockets],
        logConfiguration: logs(settings, INIT),
      },
      ...numbers.map((number) => sandboxContainer(settings, of, number)),
      {
        name: AGENT,
        image: workerImage,
        essential: true,
        user: '1000:1000',
        command: ['agent'],
        environment: Object.entries({
          ...settings.agentEnv,
          SANDBOXES: String(of.sandboxes),
          IMAGE: of.pinned,
        }).map(([name, value]) => ({ name, value })),
        secrets: [{ name: 'MODEL_KEYS', valueFrom: settings.secretArn }],
        mountPoints: sockets,
        // What depends on others is told to stop before them.
        dependsOn: [
          afterInit,
          ...numbers.map((number) => ({
            containerName: sandboxName(number),
            condition: 'START' as const,
          })),
        ],
        stopTimeout: STOP_TIMEOUT,
        logConfiguration: logs(settings, AGENT),
      },
    ],
  };
}

function sandboxContainer(settings: TaskSettings, of: TaskImage, number: number): TaskContainer {
  return {
    name: sandboxName(number),
    image: of.pinned,
    essential: false,
    // Both: an image's own command would be appended otherwise.
    entryPoint: [`${RUNTIME_PATH}/busybox`, 'sh', SANDBOX_ENTRY],
    command: ['listen'],
    mountPoints: [
      { ...mount(RUNTIME_VOLUME, RUNTIME_PATH), readOnly: true },
      mount(socketVolume(number), SOCKET_PATH),
    ],
    dependsOn: [{ containerName: INIT, condition: 'SUCCESS' }],
    memory: settings.memory - AGENT_MEMORY,
    memoryReservation: SANDBOX_RESERVATION,
    linuxParameters: { capabilities: { drop: ['NET_RAW'] } },
    ...(of.credentialsArn !== undefined && {
      repositoryCredentials: { credentialsParameter: of.credentialsArn },
    }),
  };
}

function mount(sourceVolume: string, containerPath: string): MountPoint {
  return { sourceVolume, containerPath, readOnly: false };
}

function logs(settings: TaskSettings, name: string) {
  return {
    logDriver: 'awslogs' as const,
    options: {
      'awslogs-group': settings.logGroup,
      'awslogs-region': settings.region,
      'awslogs-stream-prefix': name,
      // Logs that can't be delivered must not stop a worker.
      mode: 'non-blocking',
      'max-buffer-size': '4m',
    },
  };
}
