import type Docker from 'dockerode';
import { buildSandboxRuntime } from '../../adapters/sandbox/docker/build-runtime.ts';
import {
  createDockerSandboxProvider,
  type DockerSandboxProvider,
} from '../../adapters/sandbox/docker/docker-sandbox.ts';
import { createImageChecks } from '../../adapters/sandbox/docker/image-check.ts';
import { createRegistryLogins } from '../../adapters/sandbox/docker/registry-login.ts';
import type { RunConfig } from '../../core/run/run-config.ts';
import { InterruptedError } from '../interrupted-error.ts';
import { startPullDisplay } from '../terminal/pull-display.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { UsageError } from '../usage-error.ts';
import type { Wiring } from '../wiring.ts';
import type { ContainerRows } from './check-rows.ts';
import { checkImages } from './image-preflight.ts';
import { spareSettings } from './spare-settings.ts';

const START_TIMEOUT_MS = 120_000;
/** Longer than one may wait for its prompt and then run: a prompt's time limit is a week at most. */
const TIME_TO_LIVE_MS = 15 * 24 * 3_600_000;
const HELPER_TIMEOUT_MS = 60_000;
const MIB = 1024 * 1024;

export interface ContainerIo {
  terminal: Terminal;
  /** What images were pinned to by earlier passes, by the name that rows give them. */
  pins: ReadonlyMap<string, string>;
  /** Ends builds, pulls and waits. */
  signal: AbortSignal;
}

export interface ContainerSandboxes {
  provider: DockerSandboxProvider;
  /** Those of before and those of this pass. */
  pins: ReadonlyMap<string, string>;
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
  const runtimeFolder = await makeRuntime(docker, wiring, io.signal);
  const { signal, pins: before } = io;
  const display = startPullDisplay(io.terminal, wiring.clock);
  const { dockerConfigFolder: configFolder, env } = wiring;
  const images = createImageChecks(docker, {
    pins: before,
    logins: createRegistryLogins({ configFolder, env, signal, helperTimeoutMs: HELPER_TIMEOUT_MS }),
    observer: display.observer,
    signal,
  });
  const provider = createDockerSandboxProvider({
    docker,
    images,
    runtimeFolder,
    runName: config.run_name,
    defaultImage: config.default_image ?? '',
    limits: {
      network: config.sandbox_network,
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
  const { checked, lines } = await checkImages(images, [...new Set(wanted)], signal).finally(
    display.stop,
  );
  if (signal.aborted) throw interrupted();
  for (const line of lines) io.terminal.line(line);
  const pins = new Map([
    ...before,
    ...checked.map(({ reference, pin }) => [reference, pin] as const),
  ]);
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

async function makeRuntime(docker: Docker, wiring: Wiring, signal: AbortSignal): Promise<string> {
  try {
    return await buildSandboxRuntime({
      docker,
      ...wiring.sandboxRuntime,
      cacheFolder: wiring.cacheFolder,
      buildArguments: baseImages(wiring.env),
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw interrupted();
    const words = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `the sandbox runtime can't be made: ${words}. TALARIA_NODE_IMAGE and TALARIA_BUSYBOX_IMAGE may name other images to take Node and busybox from`,
      { cause: error },
    );
  }
}

function interrupted(): InterruptedError {
  return new InterruptedError('stopped before the first prompt; what was pulled stays with Docker');
}

function baseImages(env: Wiring['env']): Record<string, string> {
  const { TALARIA_NODE_IMAGE: node, TALARIA_BUSYBOX_IMAGE: busybox } = env;
  return {
    ...(node !== undefined && { NODE_IMAGE: node }),
    ...(busybox !== undefined && { BUSYBOX_IMAGE: busybox }),
  };
}
