import {
  DeregisterTaskDefinitionCommand,
  DescribeTasksCommand,
  type ECSClient,
  ListTaskDefinitionFamiliesCommand,
  ListTaskDefinitionsCommand,
  ListTasksCommand,
  RegisterTaskDefinitionCommand,
  RunTaskCommand,
  StopTaskCommand,
} from '@aws-sdk/client-ecs';
import type { LaunchRecord } from '../../core/cloud/launch-record.ts';
import { AGENT } from '../../core/cloud/task-definition.ts';
import type { Fleet, StartAnswer, TaskView } from '../../core/ports/fleet.ts';
import { refusalOf } from './ecs-refusal.ts';
import { taskView } from './ecs-task-view.ts';

const MOST_DESCRIBED = 100;

export interface EcsFleetSettings {
  clusterArn: string;
  subnetIds: readonly string[];
  securityGroupIds: readonly string[];
  assignPublicIp: 'ENABLED' | 'DISABLED';
  /** Of every task, with those of its run. */
  tags: Readonly<Record<string, string>>;
}

/** The cluster on Fargate. */
export function createEcsFleet(client: ECSClient, settings: EcsFleetSettings): Fleet {
  const cluster = settings.clusterArn;

  /** With this status. */
  async function listed(token: string, desiredStatus: 'RUNNING' | 'STOPPED') {
    const found = await client.send(
      new ListTasksCommand({ cluster, startedBy: token, desiredStatus }),
    );
    return found.taskArns?.[0];
  }

  return {
    async register(family, definition) {
      const { taskDefinition } = await client.send(
        new RegisterTaskDefinitionCommand({ family, ...definition, tags: tagList(settings.tags) }),
      );
      const arn = taskDefinition?.taskDefinitionArn;
      if (arn === undefined) throw new Error(`ECS registered ${family} without an ARN`);
      return arn;
    },
    async families(prefix) {
      const found: string[] = [];
      let nextToken: string | undefined;
      do {
        const page = await client.send(
          new ListTaskDefinitionFamiliesCommand({
            familyPrefix: prefix,
            status: 'ACTIVE',
            ...(nextToken !== undefined && { nextToken }),
          }),
        );
        found.push(...(page.families ?? []));
        nextToken = page.nextToken;
      } while (nextToken !== undefined);
      return found;
    },
    async deregister(family) {
      const { taskDefinitionArns = [] } = await client.send(
        new ListTaskDefinitionsCommand({ familyPrefix: family, status: 'ACTIVE' }),
      );
      for (const taskDefinition of taskDefinitionArns) {
        await client.send(new DeregisterTaskDefinitionCommand({ taskDefinition }));
      }
    },
    async start(launch) {
      try {
        const answer = await client.send(new RunTaskCommand(runTask(settings, launch)));
        const arn = answer.tasks?.[0]?.taskArn;
        if (arn !== undefined) return { arn };
        const [failure] = answer.failures ?? [];
        const words = [failure?.reason, failure?.detail].filter(Boolean).join(': ');
        return refused(words || 'RunTask gave neither a task nor a failure');
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal === undefined) throw error;
        return refusal;
      }
    },
    async find(token) {
      return (await listed(token, 'RUNNING')) ?? (await listed(token, 'STOPPED'));
    },
    async describe(arns) {
      const views: TaskView[] = [];
      for (let at = 0; at < arns.length; at += MOST_DESCRIBED) {
        const tasks = arns.slice(at, at + MOST_DESCRIBED);
        const answer = await client.send(new DescribeTasksCommand({ cluster, tasks }));
        views.push(...(answer.tasks ?? []).map(taskView));
        views.push(
          ...(answer.failures ?? []).flatMap(({ arn, reason }) =>
            arn !== undefined && reason === 'MISSING' ? [{ arn, state: 'missing' as const }] : [],
          ),
        );
      }
      return views;
    },
    async stop(arn, reason) {
      await client.send(new StopTaskCommand({ cluster, task: arn, reason }));
    },
  };
}

function refused(words: string): StartAnswer {
  return refusalOf(new Error(words), 'answer') ?? { refused: 'other', words };
}

/** The same for every try of a launch. */
function runTask(settings: EcsFleetSettings, launch: LaunchRecord) {
  const tags = { ...settings.tags, 'talaria:run': launch.run_name };
  const environment = {
    RUN_NAME: launch.run_name,
    BATCH: String(launch.batch),
    LAUNCH: String(launch.launch),
  };
  return {
    cluster: settings.clusterArn,
    taskDefinition: launch.task_definition,
    count: 1,
    clientToken: launch.token,
    startedBy: launch.token,
    capacityProviderStrategy: [
      { capacityProvider: launch.spot ? 'FARGATE_SPOT' : 'FARGATE', weight: 1 },
    ],
    enableExecuteCommand: false,
    propagateTags: 'TASK_DEFINITION' as const,
    tags: tagList(tags),
    networkConfiguration: {
      awsvpcConfiguration: {
        subnets: [...settings.subnetIds],
        securityGroups: [...settings.securityGroupIds],
        assignPublicIp: settings.assignPublicIp,
      },
    },
    overrides: {
      containerOverrides: [
        {
          name: AGENT,
          environment: Object.entries(environment).map(([name, value]) => ({ name, value })),
        },
      ],
    },
  };
}

function tagList(tags: Readonly<Record<string, string>>) {
  return Object.entries(tags).map(([key, value]) => ({ key, value }));
}
