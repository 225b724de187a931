import { Duration } from 'aws-cdk-lib';
import { type EventPattern, Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as CallFunction } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import type { DispatcherEnv } from '../../functions/dispatcher/env.ts';
import { platformEnvironment } from '../emulator.ts';
import type { Settings } from '../settings.ts';
import type { BatchQueue } from './batch-queue.ts';
import type { EnvironmentFor } from './environment.ts';
import {
  type FunctionSurroundings,
  grantInvoke,
  LambdaFunction,
  nameOf,
} from './lambda-function.ts';
import type { ModelKeys } from './model-keys.ts';
import { grantLogins, grantPull } from './registry-access.ts';
import type { RunBucket } from './run-bucket.ts';
import type { RunTable } from './run-table.ts';
import type { TaskFleet } from './task-fleet.ts';
import type { TaskImages } from './task-images.ts';
import type { TaskNetwork } from './task-network.ts';

/** One that works, and one that tells it to look again. */
const CONCURRENCY = 2;

interface DispatcherProps {
  bucket: RunBucket;
  table: RunTable;
  queue: BatchQueue;
  keys: ModelKeys;
  network: TaskNetwork;
  fleet: TaskFleet;
  images: TaskImages;
  settings: Settings;
  surroundings: FunctionSurroundings;
}

/** Starts a task for each batch that waits; each minute, at nudges, and when a task has stopped. */
export class Dispatcher extends Construct {
  constructor(scope: Construct, id: string, props: DispatcherProps) {
    super(scope, id);
    const { bucket, table, queue, fleet, settings } = props;
    const dispatcher = new LambdaFunction(this, 'Dispatcher', {
      ...props.surroundings,
      name: 'dispatcher',
      description: 'Starts a task for each batch that waits',
      memorySize: 1024,
      timeout: Duration.minutes(5),
      maxEventAge: Duration.hours(1),
      reservedConcurrentExecutions: settings.reserveConcurrency ? CONCURRENCY : undefined,
      environment: this.environment(props),
    });
    // What cancelled runs have paid for is taken in.
    bucket.grantList(dispatcher.role, 'runs/*/samples/*');
    bucket.grantRead(dispatcher.role, 'runs/*/samples/*');
    // A day after a run's end nobody needs its stored rows.
    bucket.grantDeleteNow(dispatcher.role, 'runs/*/samples/*');
    table.grantItems(dispatcher.role, 'GetItem', 'BatchGetItem', 'Query');
    table.grantItems(dispatcher.role, 'PutItem', 'UpdateItem', 'DeleteItem');
    table.grantIndexes(dispatcher.role);
    grantPull(dispatcher.role);
    grantLogins(dispatcher.role, settings.registrySecrets);
    queue.grantSend(dispatcher.role);
    queue.grantReceive(dispatcher.role);
    fleet.grantLaunch(dispatcher.role);
    grantInvoke(dispatcher.role, this, 'starter', 'merge');
    this.call(dispatcher, 'EveryMinute', { schedule: Schedule.rate(Duration.minutes(1)) });
    this.call(dispatcher, 'TaskStopped', {
      eventPattern: {
        source: ['aws.ecs'],
        detailType: ['ECS Task State Change'],
        detail: { clusterArn: [fleet.clusterArn], lastStatus: ['STOPPED'] },
      },
    });
  }

  private environment(props: DispatcherProps) {
    const { fleet, network, settings, images } = props;
    return {
      TABLE_NAME: props.table.name,
      BUCKET_NAME: props.bucket.name,
      QUEUE_URL: props.queue.queue.queueUrl,
      STARTER_NAME: nameOf(this, 'starter'),
      MERGE_NAME: nameOf(this, 'merge'),
      CLUSTER_ARN: fleet.clusterArn,
      SUBNET_IDS: network.subnetIds.join(','),
      SECURITY_GROUP_IDS: network.securityGroupId,
      ASSIGN_PUBLIC_IP: network.assignPublicIp,
      MAX_TASKS: String(settings.maxTasks),
      TASK_CPU: String(settings.taskCpu),
      TASK_MEMORY: String(settings.taskMemory),
      TASK_DISK: String(settings.taskDisk),
      SPOT: settings.spot ? 'true' : 'false',
      TASK_FAMILY: fleet.family,
      TASK_ROLE_ARN: fleet.roles.task.roleArn,
      EXECUTION_ROLE_ARN: fleet.roles.execution.roleArn,
      WORKER_ROLE_ARN: fleet.roles.worker.roleArn,
      WORKER_EXTERNAL_ID: fleet.roles.workerExternalId,
      WORKER_IMAGE: images.worker,
      DEFAULT_IMAGE: images.default,
      ...images.arm64Environment,
      SECRET_ARN: props.keys.arn,
      REGISTRY_SECRETS: JSON.stringify(settings.registrySecrets),
      LOG_GROUP: fleet.logGroupName,
      ...platformEnvironment(settings),
    } satisfies EnvironmentFor<DispatcherEnv>;
  }

  private call(
    dispatcher: LambdaFunction,
    id: string,
    when: { schedule?: Schedule; eventPattern?: EventPattern },
  ): void {
    new Rule(this, id, { ...when, targets: [new CallFunction(dispatcher.function)] });
  }
}
