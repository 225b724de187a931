import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { build } from 'esbuild';
import { buildSandboxRuntime } from '../../src/adapters/sandbox/docker/build-runtime.ts';
import {
  createDockerSandboxProvider,
  type DockerSandboxDeps,
  type DockerSandboxProvider,
} from '../../src/adapters/sandbox/docker/docker-sandbox.ts';
import { makeImage, runtimeBases, type TestImage } from './docker-images.ts';

const SOURCE = new URL('../../containers/sandbox/', import.meta.url).pathname;
const CACHE = new URL('../../.cache/', import.meta.url).pathname;

let runtime: Promise<string> | undefined;

/** The sandbox runtime of these sources, built once. */
export function testRuntime(docker: Docker): Promise<string> {
  runtime ??= buildRuntime(docker);
  return runtime;
}

export async function makeDockerProvider(
  image: TestImage,
  overrides: Partial<DockerSandboxDeps> = {},
): Promise<{
  docker: Docker;
  provider: DockerSandboxProvider;
  runtimeFolder: string;
  dispose(): Promise<void>;
}> {
  const docker = new Docker();
  const runtimeFolder = await testRuntime(docker);
  const provider = createDockerSandboxProvider({
    docker,
    runtimeFolder,
    runName: 'test',
    defaultImage: await makeImage(docker, image),
    limits: { network: 'none' },
    startTimeoutMs: 60_000,
    timeToLiveMs: 3_600_000,
    ...overrides,
  });
  return { docker, provider, runtimeFolder, dispose: () => provider.close() };
}

async function buildRuntime(docker: Docker): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-daemon-'));
  const daemonFile = join(folder, 'daemon.mjs');
  try {
    await build({
      entryPoints: [join(SOURCE, 'main.ts')],
      outfile: daemonFile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20.19',
      minify: true,
      logLevel: 'warning',
    });
    return await buildSandboxRuntime({
      docker,
      sourceFolder: SOURCE,
      daemonFile,
      cacheFolder: CACHE,
      buildArguments: await runtimeBases(docker),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
