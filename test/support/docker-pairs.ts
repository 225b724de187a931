import Docker from 'dockerode';
import { afterEach, expect } from 'vitest';
import type { DockerSandboxDeps } from '../../src/adapters/sandbox/docker/docker-sandbox.ts';
import type { Sandbox } from '../../src/core/ports/sandbox.ts';
import { makeDockerProvider } from './docker-sandboxes.ts';
import { runIn } from './sandbox-run.ts';

/** Sandboxes of one image side by side, closed after each test. */
export function useDockerPairs() {
  const docker = new Docker();
  const disposers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    await Promise.all(disposers.splice(0).map((dispose) => dispose()));
  });

  async function make(overrides: Partial<DockerSandboxDeps> = {}) {
    const made = await makeDockerProvider('bash', overrides);
    disposers.push(made.dispose);
    return made;
  }

  return {
    docker,
    make,
    async openTwo(limits: Partial<DockerSandboxDeps['limits']> = {}, runName = 'pair') {
      const { provider } = await make({ runName, limits: { network: 'none', ...limits } });
      const spec = { promptId: 'p', image: '', cwd: '' };
      return await Promise.all([provider.open(spec), provider.open(spec)]);
    },
    containersOf: (runName: string) =>
      docker.listContainers({ all: true, filters: { label: [`talaria.run=${runName}`] } }),
  };
}

/** That the neighbour goes on working, while and after `act` goes wrong in the other. */
export async function besides<T>(neighbour: Sandbox, act: () => Promise<T>): Promise<T> {
  const fine = async () => {
    expect((await runIn(neighbour, 'echo fine')).text).toBe('fine\n');
  };
  const [result] = await Promise.all([act(), fine()]);
  await fine();
  return result;
}
