import type { LaunchRecord, TaskStop } from '../../src/core/cloud/launch-record.ts';
import type { TaskDefinition } from '../../src/core/cloud/task-definition.ts';
import type { Fleet, StartAnswer, TaskView } from '../../src/core/ports/fleet.ts';

export interface ScriptedTask {
  arn: string;
  launch: LaunchRecord;
  stop: TaskStop | undefined;
}

/** A cluster whose tasks run and end as the test says. */
export interface ScriptedFleet extends Fleet {
  tasks: ScriptedTask[];
  /** Families with their definitions. */
  registered: Map<string, TaskDefinition>;
  /** Answers of the next starts, before any task is started; an error is thrown after the start. */
  answers: (Extract<StartAnswer, { refused: string }> | Error)[];
  /** Reasons of stops that were asked for. */
  stops: string[];
  /** Ends the task of a batch. */
  end(batch: number, stop?: Partial<TaskStop>): ScriptedTask;
}

export function createScriptedFleet(): ScriptedFleet {
  const tasks: ScriptedTask[] = [];
  const registered = new Map<string, TaskDefinition>();
  const answers: ScriptedFleet['answers'] = [];
  const stops: string[] = [];

  return {
    tasks,
    registered,
    answers,
    stops,
    end(batch, stop = {}) {
      const task = tasks.findLast(({ launch, stop: of }) => launch.batch === batch && !of);
      if (task === undefined) throw new Error(`no task of batch ${batch} runs`);
      task.stop = {
        code: 'EssentialContainerExited',
        reason: 'Essential container in task exited',
        containers: [],
        ...stop,
      };
      return task;
    },
    async register(family, definition) {
      registered.set(family, definition);
      return `arn:aws:ecs:us-east-1:000000000000:task-definition/${family}:1`;
    },
    families: async (prefix) => [...registered.keys()].filter((of) => of.startsWith(prefix)),
    async deregister(family) {
      registered.delete(family);
    },
    async start(launch) {
      const answer = answers.shift();
      if (answer !== undefined && !(answer instanceof Error)) return answer;
      // As with a client token: one task a launch.
      const known = tasks.find(({ launch: of }) => of.token === launch.token);
      const task = known ?? { arn: `arn:task/${tasks.length}`, launch, stop: undefined };
      if (known === undefined) tasks.push(task);
      if (answer instanceof Error) throw answer;
      return { arn: task.arn };
    },
    find: async (token) => tasks.find(({ launch }) => launch.token === token)?.arn,
    describe: async (arns) =>
      arns.map((arn): TaskView => {
        const task = tasks.find((of) => of.arn === arn);
        if (task === undefined) return { arn, state: 'missing' };
        if (task.stop === undefined) return { arn, state: 'alive' };
        return { arn, state: 'stopped', stop: task.stop };
      }),
    async stop(arn, reason) {
      stops.push(reason);
      const task = tasks.find((of) => of.arn === arn);
      if (task !== undefined) task.stop ??= { code: 'UserInitiated', reason, containers: [] };
    },
  };
}
