import type Docker from 'dockerode';
import {
  ImageUnavailableError,
  type Sandbox,
  SandboxLostError,
  type SandboxProvider,
  type SandboxSpec,
} from '../../../core/ports/sandbox.ts';
import { PROTOCOL_VERSION } from '../protocol/messages.ts';
import { createRemoteSandbox } from '../protocol/remote-sandbox.ts';
import { createSandboxOwner, type SandboxOwner } from '../sandbox-owner.ts';
import { containerLabels, sweepContainers } from './container-labels.ts';
import { containerOptions, type SandboxLimits } from './container-options.ts';
import { createDiskLimit } from './disk-limit.ts';
import { dockerWords, statusCode } from './docker-words.ts';
import { createImageChecks, type ImageChecks } from './image-check.ts';
import { createSparePool, type Spare } from './spare-pool.ts';
import { containerName, type StartedContainer, startContainer, within } from './start-container.ts';

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
  /** What is started ahead of what is expected; nothing by default. */
  spares?: SpareSettings;
}

export interface SpareSettings {
  /** Most that wait or start. */
  most: number;
  /** Most that start at once. */
  startsAtOnce: number;
  /** Asked before each start. */
  hasRoom(): boolean;
  /** Once aborted, none is started and those that wait are removed. */
  signal: AbortSignal;
}

export interface DockerSandboxProvider extends SandboxProvider {
  /** For the preflight: `open` does the same, and each reference is asked for once. */
  images: ImageChecks;
  /** Says what will be opened, in that order, so that it may be started ahead. */
  expect(spec: SandboxSpec): void;
  /** Removes the containers that dead processes left; resolves to how many. */
  sweep(): Promise<number>;
  /** Closes what is still open, and what was started ahead. Never throws. */
  close(): Promise<void>;
}

interface SpareContainer extends StartedContainer, Spare {}

const NO_SPARES: SpareSettings = {
  most: 0,
  startsAtOnce: 0,
  hasRoom: () => false,
  signal: new AbortController().signal,
};

/** Sandboxes in containers of their own, of any image, each removed at its end. */
export function createDockerSandboxProvider(deps: DockerSandboxDeps): DockerSandboxProvider {
  const { docker, limits, runName, startTimeoutMs, spares = NO_SPARES } = deps;
  const images = deps.images ?? createImageChecks(docker);
  const open = new Set<Sandbox>();
  const disk = createDiskLimit(docker, limits.diskBytes);
  let opening = 0;
  let owner: Promise<SandboxOwner> | undefined;

  const pool = createSparePool<SpareContainer>({
    ...spares,
    // One that a prompt waits for comes first.
    mayStart: () => opening === 0 && !spares.signal.aborted && spares.hasRoom(),
    async start(image) {
      const started = await start(image, containerName(runName, 'spare'));
      const { client, remove } = started;
      return { ...started, ended: client.lost, discard: remove };
    },
  });
  deps.spares?.signal.addEventListener('abort', () => void pool.close(), { once: true });

  function getOwner(): Promise<SandboxOwner> {
    owner ??= createSandboxOwner();
    return owner;
  }

  /** A pull may take as long as it takes: only what comes after it is timed. */
  async function start(reference: string, name: string): Promise<StartedContainer> {
    const image = await images.check(reference);
    const labels = containerLabels({ ...deps, owner: await getOwner() });
    const optionsWith = (diskQuota: boolean) =>
      containerOptions({ ...deps, image, labels, diskQuota });
    const { memoryBytes } = limits;
    try {
      const options = { ...optionsWith(await disk.hasQuota(optionsWith(true))), name };
      return await startContainer(docker, { options, memoryBytes, timeoutMs: startTimeoutMs });
    } catch (error) {
      // Somebody has removed the image since: the next attempt is to have it again.
      if (statusCode(error) === 404) images.renew(reference);
      throw error;
    }
  }

  /** Makes a container one prompt's own; removes it where that fails. */
  async function assign(
    { container, client, remove }: StartedContainer,
    { cwd, mark }: { cwd: string; mark: string },
  ): Promise<Sandbox> {
    const opened = client.call('open', { version: PROTOCOL_VERSION, cwd, mark });
    try {
      await within(startTimeoutMs, opened);
    } catch (error) {
      void remove();
      throw error;
    }
    const unwatch = disk.watch(container, (reason) => {
      client.lose(reason);
      void container.kill().catch(() => undefined);
    });
    const sandbox: Sandbox = {
      ...createRemoteSandbox(client),
      async close() {
        open.delete(sandbox);
        unwatch();
        await remove();
      },
    };
    open.add(sandbox);
    return sandbox;
  }

  async function openSpare(image: string, spec: SandboxSpec): Promise<Sandbox | undefined> {
    const spare = await pool.take(spec.promptId, image);
    if (spare === undefined) return undefined;
    const name = containerName(runName, spec.promptId);
    // For people who look for a prompt's container; nothing rests on it.
    void spare.container.rename({ name }).catch(() => undefined);
    // What went wrong with a spare is no fault of the prompt.
    return await assign(spare, { cwd: spec.cwd, mark: name }).catch(() => undefined);
  }

  async function openFresh(image: string, spec: SandboxSpec): Promise<Sandbox> {
    const name = containerName(runName, spec.promptId);
    opening += 1;
    try {
      const sandbox = await assign(await start(image, name), { cwd: spec.cwd, mark: name });
      pool.worked(image);
      return sandbox;
    } catch (error) {
      throw asLost(error);
    } finally {
      opening -= 1;
      pool.fill();
    }
  }

  const imageOf = (spec: SandboxSpec) => (spec.image === '' ? deps.defaultImage : spec.image);

  return {
    images,
    expect: (spec) => pool.expect(spec.promptId, imageOf(spec)),
    async open(spec) {
      const image = imageOf(spec);
      return (await openSpare(image, spec)) ?? (await openFresh(image, spec));
    },
    sweep: async () => (await sweepContainers(docker, await getOwner())).removed,
    async close() {
      await Promise.all([pool.close(), ...[...open].map((sandbox) => sandbox.close())]);
    },
  };
}

function asLost(error: unknown): Error {
  if (error instanceof SandboxLostError || error instanceof ImageUnavailableError) return error;
  return new SandboxLostError(`no sandbox: ${dockerWords(error)}`, { cause: error });
}
