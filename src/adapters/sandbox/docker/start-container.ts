import { randomBytes } from 'node:crypto';
import type Docker from 'dockerode';
import type { ContainerCreateOptions } from 'dockerode';
import { SandboxLostError } from '../../../core/ports/sandbox.ts';
import { createProtocolClient, type ProtocolClient } from '../protocol/protocol-client.ts';
import { createContainerStream } from './container-stream.ts';
import { explainLoss } from './explain-loss.ts';

/** The longest a container's removal is waited for; it goes on behind. */
const REMOVE_MS = 15_000;

/** A container whose sandbox daemon has spoken, and in which nothing was asked for yet. */
export interface StartedContainer {
  container: Docker.Container;
  client: ProtocolClient;
  /** Removes the container with its volumes. Never throws. */
  remove(): Promise<void>;
}

/** Throws `SandboxLostError` or the Docker daemon's error, and leaves nothing behind then. */
export async function startContainer(
  docker: Docker,
  of: {
    options: ContainerCreateOptions;
    memoryBytes?: number | undefined;
    timeoutMs: number;
  },
): Promise<StartedContainer> {
  const start: Start = { isOver: false };
  try {
    return await within(of.timeoutMs, begin(docker, of, start));
  } catch (error) {
    start.isOver = true;
    if (start.container !== undefined) void remove(start.container);
    throw error;
  }
}

/** A start that may be given up while it is still going on. */
interface Start {
  isOver: boolean;
  container?: Docker.Container;
}

async function begin(
  docker: Docker,
  { options, memoryBytes }: { options: ContainerCreateOptions; memoryBytes?: number | undefined },
  start: Start,
): Promise<StartedContainer> {
  const container = await docker.createContainer(options);
  start.container = container;
  goOn(start);
  const attachment = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true };
  const { stream, errors } = createContainerStream(await container.attach(attachment));
  const client = createProtocolClient(stream, {
    explainLoss: (what) => explainLoss({ memoryBytes, container, what, errors }),
  });
  try {
    await container.start();
    goOn(start);
    await client.heard;
    goOn(start);
  } catch (error) {
    client.close();
    throw error;
  }
  return {
    container,
    client,
    async remove() {
      client.close();
      await within(REMOVE_MS, remove(container)).catch(() => undefined);
    },
  };
}

/** Throws, and removes what there is, where the start was given up meanwhile. */
function goOn(start: Start): void {
  if (!start.isOver) return;
  if (start.container !== undefined) void remove(start.container);
  throw new SandboxLostError('the start was given up');
}

async function remove(container: Docker.Container): Promise<void> {
  // Already gone, or for a later sweep.
  await container.remove({ force: true, v: true }).catch(() => undefined);
}

/** Rejects with `SandboxLostError` where the work takes longer; it goes on behind. */
export async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new SandboxLostError(`no sandbox within ${timeoutMs / 1_000} s: its start was given up`),
      );
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}

/** Begins with the run, then whom it serves; unique. */
export function containerName(runName: string, whom: string): string {
  return `talaria-${runName}-${whom}-${randomBytes(6).toString('hex')}`;
}
