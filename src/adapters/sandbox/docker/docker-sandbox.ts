import { randomBytes } from 'node:crypto';
import type Docker from 'dockerode';
import {
  ImageUnavailableError,
  type Sandbox,
  SandboxLostError,
  type SandboxProvider,
  type SandboxSpec,
} from '../../../core/ports/sandbox.ts';
import { PROTOCOL_VERSION } from '../protocol/messages.ts';
import { createProtocolClient } from '../protocol/protocol-client.ts';
import { createRemoteSandbox } from '../protocol/remote-sandbox.ts';
import { createSandboxOwner, type SandboxOwner } from '../sandbox-owner.ts';
import { containerLabels, sweepContainers } from './container-labels.ts';
import { containerOptions, type SandboxLimits } from './container-options.ts';
import { createContainerStream } from './container-stream.ts';
import { dockerWords } from './docker-words.ts';
import { explainLoss } from './explain-loss.ts';
import { createImageChecks, type ImageChecks } from './image-check.ts';

/** The longest a sandbox is waited for at its end; the rest goes on behind. */
const CLOSE_MS = 15_000;

export interface DockerSandboxDeps {
  docker: Docker;
  /** Path of the sandbox runtime on the Docker daemon's machine, see `buildSandboxRuntime`. */
  runtimeFolder: string;
  runName: string;
  /** For specs without an image. */
  defaultImage: string;
  /** Where images come from; by default, they are as their names mean now. */
  images?: ImageChecks;
  limits: SandboxLimits;
  /** From `open` until a sandbox that has not answered is given up. */
  startTimeoutMs: number;
  /** After which anybody's sweep may remove a container. */
  timeToLiveMs: number;
}

export interface DockerSandboxProvider extends SandboxProvider {
  /** For the preflight: `open` does the same, and each reference is asked for once. */
  images: ImageChecks;
  /** Removes the containers that dead processes left; resolves to how many. */
  sweep(): Promise<number>;
  /** Closes what is still open. Never throws. */
  close(): Promise<void>;
}

/** A start that may be given up while it is still going on. */
interface Start {
  isOver: boolean;
  container?: Docker.Container;
}

/** Sandboxes in containers of their own, of any image, each removed at its end. */
export function createDockerSandboxProvider(deps: DockerSandboxDeps): DockerSandboxProvider {
  const { docker, limits } = deps;
  const images = deps.images ?? createImageChecks(docker);
  const open = new Set<Sandbox>();
  let owner: Promise<SandboxOwner> | undefined;

  function getOwner(): Promise<SandboxOwner> {
    owner ??= createSandboxOwner();
    return owner;
  }

  async function start(spec: SandboxSpec, starting: Start): Promise<Sandbox> {
    const image = await images.check(spec.image === '' ? deps.defaultImage : spec.image);
    const labels = containerLabels({ ...deps, owner: await getOwner(), promptId: spec.promptId });
    goOn(starting);
    const name = `talaria-${deps.runName}-${randomBytes(6).toString('hex')}`;
    const options = containerOptions({ ...deps, image, labels });
    const container = await docker.createContainer({ ...options, name });
    starting.container = container;
    goOn(starting);
    const attachment = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true };
    const { stream, errors } = createContainerStream(await container.attach(attachment));
    const client = createProtocolClient(stream, {
      explainLoss: (what) => explainLoss({ ...limits, container, what, errors }),
    });
    try {
      await container.start();
      goOn(starting);
      await client.call('open', { version: PROTOCOL_VERSION, cwd: spec.cwd, mark: name });
      goOn(starting);
    } catch (error) {
      client.close();
      throw error;
    }
    const sandbox: Sandbox = {
      ...createRemoteSandbox(client),
      async close() {
        open.delete(sandbox);
        client.close();
        await atMost(CLOSE_MS, remove(container));
      },
    };
    open.add(sandbox);
    return sandbox;
  }

  return {
    images,
    async open(spec) {
      // A pull may take as long as it takes.
      await images.check(spec.image === '' ? deps.defaultImage : spec.image);
      const starting: Start = { isOver: false };
      try {
        return await within(deps.startTimeoutMs, start(spec, starting));
      } catch (error) {
        starting.isOver = true;
        if (starting.container !== undefined) void remove(starting.container);
        throw asLost(error);
      }
    },
    sweep: async () => sweepContainers(docker, await getOwner()),
    async close() {
      await Promise.all([...open].map((sandbox) => sandbox.close()));
    },
  };
}

/** Throws, and removes what there is, where the start was given up meanwhile. */
function goOn({ isOver, container }: Start): void {
  if (!isOver) return;
  if (container !== undefined) void remove(container);
  throw new SandboxLostError('the start was given up');
}

async function remove(container: Docker.Container): Promise<void> {
  // Already gone, or for a later sweep.
  await container.remove({ force: true, v: true }).catch(() => undefined);
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
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

async function atMost(timeoutMs: number, work: Promise<void>): Promise<void> {
  await within(timeoutMs, work).catch(() => undefined);
}

function asLost(error: unknown): Error {
  if (error instanceof SandboxLostError || error instanceof ImageUnavailableError) return error;
  return new SandboxLostError(`no sandbox: ${dockerWords(error)}`, { cause: error });
}
