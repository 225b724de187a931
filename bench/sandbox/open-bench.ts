import { homedir } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { buildSandboxRuntime } from '../../src/adapters/sandbox/docker/build-runtime.ts';
import {
  createDockerSandboxProvider,
  type DockerSandboxProvider,
  type SpareSettings,
} from '../../src/adapters/sandbox/docker/docker-sandbox.ts';

/** What all measures use. */
export interface Bench {
  docker: Docker;
  image: string;
  provider: DockerSandboxProvider;
  /** Another, which starts sandboxes ahead. */
  ahead(spares: SpareSettings): DockerSandboxProvider;
}

/** As `talaria run` would have it; needs the built daemon. */
export async function openBench(of: {
  docker: Docker;
  root: string;
  image: string;
}): Promise<Bench> {
  const { docker, root, image } = of;
  // biome-ignore lint/style/noProcessEnv: a bench script is its own wiring
  const env = process.env;
  const { TALARIA_NODE_IMAGE: node, TALARIA_BUSYBOX_IMAGE: busybox } = env;
  const runtimeFolder = await buildSandboxRuntime({
    docker,
    sourceFolder: join(root, 'containers/sandbox'),
    daemonFile: join(root, 'dist/sandbox-daemon.mjs'),
    cacheFolder: join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'talaria'),
    buildArguments: {
      ...(node !== undefined && { NODE_IMAGE: node }),
      ...(busybox !== undefined && { BUSYBOX_IMAGE: busybox }),
    },
  });
  const settings = {
    docker,
    runtimeFolder,
    runName: 'bench',
    defaultImage: image,
    limits: { network: 'bridge', pids: 2048 },
    startTimeoutMs: 120_000,
    timeToLiveMs: 3_600_000,
  } as const;
  return {
    docker,
    image,
    provider: createDockerSandboxProvider(settings),
    ahead: (spares) => createDockerSandboxProvider({ ...settings, spares }),
  };
}

let count = 0;

/** A prompt like no other. */
export function nextSpec() {
  count += 1;
  return { promptId: `b-${count}`, image: '', cwd: '' };
}

/** A command as the terminal tool would run it. */
export function commandOf(command: string) {
  return { command, timeoutMs: 60_000, keep: { headBytes: 10_000, tailBytes: 10_000 } };
}
