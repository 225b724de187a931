import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { testRuntime } from './docker-sandboxes.ts';

export interface SocketDaemons {
  /** Its folders `0`, `1`, … are the sandboxes' own, each with `sandbox.sock`. */
  folder: string;
  sockets: string[];
  containers: Docker.Container[];
  dispose(): Promise<void>;
}

/** Containers with sandbox daemons as in a task: one network for all, a socket folder for each. */
export async function startSocketDaemons(
  docker: Docker,
  image: string,
  count: number,
): Promise<SocketDaemons> {
  const runtime = await testRuntime(docker);
  const folder = await mkdtemp(join(tmpdir(), 'talaria-sockets-'));
  await chmod(folder, 0o755);
  const folders = Array.from({ length: count }, (_, at) => join(folder, String(at)));
  const containers = await Promise.all(
    folders.map(async (own) => {
      await mkdir(own);
      // As the init container leaves it.
      await chmod(own, 0o1777);
      const container = await docker.createContainer({
        Image: image,
        Entrypoint: ['/.talaria/busybox', 'sh', '/.talaria/entry.sh'],
        Cmd: ['listen'],
        HostConfig: {
          NetworkMode: 'host',
          CapDrop: ['NET_RAW'],
          Binds: [`${runtime}:/.talaria:ro`, `${own}:/.talaria-io`],
        },
      });
      await container.start();
      return container;
    }),
  );
  return {
    folder,
    sockets: folders.map((own) => join(own, 'sandbox.sock')),
    containers,
    async dispose() {
      await Promise.all(containers.map((of) => of.remove({ force: true, v: true })));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
