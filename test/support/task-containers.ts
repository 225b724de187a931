import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';

export interface TaskContainers {
  /** Runs the agent; resolves to its exit code and what it logged. */
  runAgent(env: Record<string, string>): Promise<{ code: number; log: string }>;
  folder: string;
  /** To every container that runs, as a stop of the task does. */
  tellAll(signal: string): Promise<void>;
  dispose(): Promise<void>;
}

/** A task as ECS starts it: init, then its sandboxes, then the agent; one network, volumes empty. */
export async function startTask(
  docker: Docker,
  of: { workerImage: string; image: string; sandboxes: number; env: Record<string, string> },
): Promise<TaskContainers> {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-task-'));
  await chmod(folder, 0o755);
  const volumes = ['runtime', ...Array.from({ length: of.sandboxes }, (_, at) => String(at))];
  for (const volume of volumes) await mkdir(join(folder, volume), { mode: 0o755 });
  const sockets = volumes.slice(1).map((at) => `${join(folder, at)}:/.talaria-io/${at}`);
  const runtime = `${join(folder, 'runtime')}:/.talaria`;
  const started: Docker.Container[] = [];
  const list = (env: Record<string, string>) =>
    Object.entries({ ...of.env, ...env }).map(([name, value]) => `${name}=${value}`);

  async function start(options: Docker.ContainerCreateOptions, binds: string[]) {
    const HostConfig = { NetworkMode: 'host', CapDrop: ['NET_RAW'], Binds: binds };
    const container = await docker.createContainer({ ...options, HostConfig });
    started.push(container);
    await container.start();
    return container;
  }
  async function logOf(container: Docker.Container): Promise<string> {
    return (await container.logs({ stdout: true, stderr: true })).toString('utf8');
  }

  const init = await start({ Image: of.workerImage, User: '0', Cmd: ['init'], Env: list({}) }, [
    runtime,
    ...sockets,
  ]);
  const { StatusCode: code } = await init.wait();
  if (code !== 0) throw new Error(`init ended with ${code}: ${await logOf(init)}`);
  for (const socket of sockets) {
    await start(
      {
        Image: of.image,
        Entrypoint: ['/.talaria/busybox', 'sh', '/.talaria/entry.sh'],
        Cmd: ['listen'],
        Env: list({}),
      },
      [`${runtime}:ro`, socket.replace(/\/\d+$/, '')],
    );
  }
  return {
    folder,
    async runAgent(env) {
      const agent = await start({ Image: of.workerImage, Cmd: ['agent'], Env: list(env) }, sockets);
      const { StatusCode } = await agent.wait();
      return { code: StatusCode, log: await logOf(agent) };
    },
    async tellAll(signal) {
      for (const container of started) await container.kill({ signal }).catch(() => undefined);
    },
    async dispose() {
      await Promise.all(started.map((of) => of.remove({ force: true, v: true })));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
