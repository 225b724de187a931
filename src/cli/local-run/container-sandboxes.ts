import type Docker from 'dockerode';
import {
  createDockerSandboxProvider,
  type DockerSandboxProvider,
} from '../../adapters/sandbox/docker/docker-sandbox.ts';
import { createImageChecks, type PullObserver } from '../../adapters/sandbox/docker/image-check.ts';
import { createRegistryLogins } from '../../adapters/sandbox/docker/registry-login.ts';
import type { ImagePin } from '../../core/run/manifest.ts';
import type { RunConfig } from '../../core/run/run-config.ts';
import { InterruptedError } from '../interrupted-error.ts';
import { startPullDisplay } from '../terminal/pull-display.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { UsageError } from '../usage-error.ts';
import type { Wiring } from '../wiring.ts';
import type { ContainerRows } from './check-rows.ts';
import { containerNetwork } from './container-network.ts';
import { checkImages } from './image-preflight.ts';
import { makeSandboxRuntime } from './sandbox-runtime.ts';
import { spareSettings } from './spare-settings.ts';

const START_TIMEOUT_MS = 120_000;
/** Longer than one may wait for its prompt and then run: a prompt's time limit is a week at most. */
const TIME_TO_LIVE_MS = 15 * 24 * 3_600_000;
const HELPER_TIMEOUT_MS = 60_000;
const INTERRUPTED = 'stopped before the first prompt; what was pulled stays with Docker';
const MIB = 1024 * 1024;

export interface ContainerIo {
  terminal: Terminal;
  /** What images were pinned to by earlier passes, by the name that rows give them. */
  pins: ReadonlyMap<string, ImagePin>;
  /** Ends builds, pulls and waits. */
  signal: AbortSignal;
}

export interface ContainerSandboxes {
  provider: DockerSandboxProvider;
  /** Those of before and those of this pass. */
  pins: ReadonlyMap<string, ImagePin>;
}

/**
 * Finds the Docker daemon, makes the sandbox runtime, removes what dead runs left, and looks for, or
 * pulls, the images of all rows. Throws `UsageError` where there is no daemon, or no runtime can be
 * made, and `InterruptedError`.
 */
export async function openContainerSandboxes(
  config: RunConfig,
  wiring: Wiring,
  rows: ContainerRows,
  io: ContainerIo,
): Promise<ContainerSandboxes> {
  if (rows.withoutImage > 0 && config.default_image === undefined) {
    throw new UsageError(
      `--sandbox docker: rows that name no image: ${rows.withoutImage}; --default_image gives them one`,
    );
  }
  const docker = await reachDocker(rows);
  const display = startPullDisplay(io.terminal, wiring.clock);
  try {
    const observer = display.observer;
    return await open(config, rows, { wiring, docker, observer, ...io });
  } catch (error) {
    throw io.signal.aborted ? new InterruptedError(INTERRUPTED, { cause: error }) : error;
  } finally {
    display.stop();
  }
}

interface OpenDeps extends ContainerIo {
  wiring: Wiring;
  docker: Docker;
  observer: PullObserver;
}

async function open(
  config: RunConfig,
  rows: ContainerRows,
  { wiring, docker, observer, signal, terminal, pins: before }: OpenDeps,
): Promise<ContainerSandboxes> {
  const { dockerConfigFolder: configFolder, env } = wiring;
  const helperTimeoutMs = HELPER_TIMEOUT_MS;
  const logins = createRegistryLogins({ configFolder, env, signal, helperTimeoutMs });
  const pulls = { logins, observer, signal };
  // Without the run's pins: the runtime is none of its images.
  const runtimeFolder = await makeSandboxRuntime(wiring, {
    docker,
    images: createImageChecks(docker, pulls),
    signal,
  });
  const images = createImageChecks(docker, { ...pulls, pins: before });
  const provider = createDockerSandboxProvider({
    docker,
    images,
    runtimeFolder,
    runName: config.run_name,
    defaultImage: config.default_image ?? '',
    limits: {
      network: await containerNetwork(config, docker, terminal),
      memoryBytes: config.sandbox_memory * MIB,
      diskBytes: config.sandbox_disk * MIB,
      cpus: config.sandbox_cpus,
      pids: config.sandbox_pids,
    },
    startTimeoutMs: START_TIMEOUT_MS,
    timeToLiveMs: TIME_TO_LIVE_MS,
    spares: spareSettings(config.num_workers, signal),
  });
  await provider.sweep();
  const wanted = [...(rows.withoutImage > 0 ? [config.default_image ?? ''] : []), ...rows.images];
  const { checked, lines } = await checkImages(images, [...new Set(wanted)], signal);
  signal.throwIfAborted();
  for (const line of lines) terminal.line(line);
  const pins = new Map(before);
  for (const { reference, pin, id } of checked) {
    if (!pins.has(reference)) pins.set(reference, { pin, id });
  }
  return { provider, pins };
}

async function reachDocker(rows: ContainerRows): Promise<Docker> {
  const { default: Client } = await import('dockerode');
  const docker = new Client();
  const [first] = rows.images;
  const example = first === undefined ? '' : `, the first of ${first}`;
  await docker.ping().catch((error: Error) => {
    throw new UsageError(
      `rows that run in containers: ${rows.count}${example}; but no Docker daemon answers: ${error.message}. Start Docker, set DOCKER_HOST, or leave "image" and --sandbox docker out`,
      { cause: error },
    );
  });
  return docker;
}
