import { buildSandboxRuntime } from '../../adapters/sandbox/docker/build-runtime.ts';
import {
  createDockerSandboxProvider,
  type DockerSandboxProvider,
} from '../../adapters/sandbox/docker/docker-sandbox.ts';
import type { ImageChecks } from '../../adapters/sandbox/docker/image-check.ts';
import { ImageUnavailableError } from '../../core/ports/sandbox.ts';
import type { RunConfig } from '../../core/run/run-config.ts';
import { oneSafeLine } from '../terminal/format.ts';
import { UsageError } from '../usage-error.ts';
import type { Wiring } from '../wiring.ts';
import type { ContainerRows } from './pass-input.ts';

const START_TIMEOUT_MS = 120_000;
/** Longer than any prompt may take: its time limit is a week at most. */
const TIME_TO_LIVE_MS = 8 * 24 * 3_600_000;
const CHECKS_AT_ONCE = 4;
const SHOWN_IMAGES = 5;
const MIB = 1024 * 1024;

/**
 * Finds the Docker daemon, makes the sandbox runtime and removes what dead runs left. Throws
 * `UsageError` where there is no daemon, or no runtime can be made.
 */
export async function openContainerSandboxes(
  config: RunConfig,
  wiring: Wiring,
  rows: ContainerRows,
  say: (line: string) => void,
): Promise<DockerSandboxProvider> {
  if (rows.withoutImage > 0 && config.default_image === undefined) {
    throw new UsageError(
      `--sandbox docker: rows that name no image: ${rows.withoutImage}; --default_image gives them one`,
    );
  }
  const { default: Docker } = await import('dockerode');
  const docker = new Docker();
  const [first] = rows.images;
  const example = first === undefined ? '' : `, the first of ${first}`;
  await docker.ping().catch((error: Error) => {
    throw new UsageError(
      `rows that run in containers: ${rows.count}${example}; but no Docker daemon answers: ${error.message}. Start Docker, set DOCKER_HOST, or leave "image" and --sandbox docker out`,
      { cause: error },
    );
  });
  const runtimeFolder = await buildSandboxRuntime({
    docker,
    ...wiring.sandboxRuntime,
    cacheFolder: wiring.cacheFolder,
    buildArguments: baseImages(wiring.env),
  }).catch((error: Error) => {
    throw new UsageError(
      `the sandbox runtime can't be made: ${error.message}. TALARIA_NODE_IMAGE and TALARIA_BUSYBOX_IMAGE may name other images to take Node and busybox from`,
      { cause: error },
    );
  });
  const provider = createDockerSandboxProvider({
    docker,
    runtimeFolder,
    runName: config.run_name,
    defaultImage: config.default_image ?? '',
    limits: {
      network: config.sandbox_network,
      memoryBytes: config.sandbox_memory * MIB,
      cpus: config.sandbox_cpus,
      pids: config.sandbox_pids,
    },
    startTimeoutMs: START_TIMEOUT_MS,
    timeToLiveMs: TIME_TO_LIVE_MS,
  });
  await provider.sweep();
  const unnamed = rows.withoutImage > 0 ? [config.default_image ?? ''] : [];
  for (const line of await checkImages(provider.images, [...unnamed, ...rows.images])) say(line);
  return provider;
}

/** Looks for all images, or pulls them; resolves to what to say of those that can't be had. */
async function checkImages(checks: ImageChecks, images: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  const left = images.values();
  const workers = Array.from({ length: CHECKS_AT_ONCE }, async () => {
    for (const image of left) {
      await checks.check(image).catch((error: unknown) => {
        // A daemon that did not answer is asked again when the image is needed.
        if (error instanceof ImageUnavailableError) missing.push(error.message);
      });
    }
  });
  await Promise.all(workers);
  if (missing.length === 0) return [];
  return [
    `images that can't be had: ${missing.length} of ${images.length}; their prompts end as failed/image_unavailable`,
    ...missing.slice(0, SHOWN_IMAGES).map((reason) => `  ${oneSafeLine(reason, 300)}`),
  ];
}

function baseImages(env: Wiring['env']): Record<string, string> {
  const { TALARIA_NODE_IMAGE: node, TALARIA_BUSYBOX_IMAGE: busybox } = env;
  return {
    ...(node !== undefined && { NODE_IMAGE: node }),
    ...(busybox !== undefined && { BUSYBOX_IMAGE: busybox }),
  };
}
