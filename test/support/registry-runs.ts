import Docker from 'dockerode';
import { afterAll, beforeAll } from 'vitest';
import { runtimeBases } from './docker-images.ts';
import { type ImageRegistry, removeImagesOf, startRegistry } from './image-registry.ts';
import { type Flags, makeWorkshop, type TalariaEnd, type Workshop } from './talaria-process.ts';

const CACHE = new URL('../../.cache/', import.meta.url).pathname;

/** What runs in containers of images of a registry need. */
export interface RegistryRuns {
  readonly docker: Docker;
  readonly registry: ImageRegistry;
  readonly workshop: Workshop;
  /** Environment in which the sandbox runtime can be made. */
  readonly env: Readonly<Record<string, string>>;
  /** A whole run of the rehearsal model. */
  rehearse(runName: string, more?: Flags, env?: Record<string, string>): Promise<TalariaEnd>;
}

/** For the tests of a file; what they pulled is gone after them. */
export function useRegistryRuns({ login = false } = {}): RegistryRuns {
  const docker = new Docker();
  const env: Record<string, string> = { XDG_CACHE_HOME: CACHE };
  let registry: ImageRegistry;
  let workshop: Workshop;
  beforeAll(async () => {
    registry = await startRegistry({ login });
    workshop = await makeWorkshop();
    const { NODE_IMAGE = '', BUSYBOX_IMAGE = '' } = await runtimeBases(docker);
    Object.assign(env, {
      TALARIA_NODE_IMAGE: NODE_IMAGE,
      TALARIA_BUSYBOX_IMAGE: BUSYBOX_IMAGE,
    });
  }, 120_000);
  afterAll(async () => {
    await workshop.dispose();
    await removeImagesOf(docker, registry.host);
    await registry.stop();
  });
  return {
    docker,
    env,
    get registry() {
      return registry;
    },
    get workshop() {
      return workshop;
    },
    rehearse: (runName, more = {}, moreEnv = {}) =>
      workshop.run(
        { run_name: runName, model: 'rehearsal', ...more },
        { env: { ...env, ...moreEnv } },
      ),
  };
}
