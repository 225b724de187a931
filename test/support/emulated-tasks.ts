import type Docker from 'dockerode';

/** A task that an emulator runs. */
export interface EmulatedTask {
  batch: number;
  launch: number;
  agent: Docker.Container;
  /** With the agent's. */
  containers: Docker.Container[];
}

const NAME = /^\/(ministack-ecs-[^-]+)-/;

/** The tasks of a run whose containers run now, of the emulator at `endpoint`. */
export async function tasksOf(
  docker: Docker,
  endpoint: string,
  run: string,
): Promise<EmulatedTask[]> {
  const listed = await docker.listContainers({ filters: { name: ['ministack-ecs-'] } });
  const running = listed.flatMap(({ Id, Names: [name = ''] }) => {
    const [, task] = NAME.exec(name) ?? [];
    return task === undefined ? [] : [{ id: Id, task, isAgent: name.endsWith('-agent') }];
  });
  const tasks: EmulatedTask[] = [];
  for (const { id, task } of running.filter(({ isAgent }) => isAgent)) {
    const agent = docker.getContainer(id);
    const env = await environmentOf(agent);
    if (env.get('RUN_NAME') !== run || env.get('AWS_ENDPOINT_URL') !== endpoint) continue;
    tasks.push({
      batch: Number(env.get('BATCH')),
      launch: Number(env.get('LAUNCH')),
      agent,
      containers: running.filter((of) => of.task === task).map((of) => docker.getContainer(of.id)),
    });
  }
  return tasks;
}

/** Empty for a container that went while it was looked at. */
async function environmentOf(container: Docker.Container): Promise<Map<string, string>> {
  const { Config } = await container.inspect().catch(() => ({ Config: { Env: [] as string[] } }));
  return new Map(
    Config.Env.map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
}
