import { Fn, Stack } from 'aws-cdk-lib';
import { ArnPrincipal, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { ModelKeys } from './model-keys.ts';
import type { RunBucket } from './run-bucket.ts';
import type { RunTable } from './run-table.ts';

/**
 * The three roles of a task. Every container of a task gets the task role's credentials, so that may
 * do nothing but assume the worker's; for this it takes an external id, which the agent alone has.
 */
export class TaskRoles extends Construct {
  /** Pulls images, writes logs and reads the model keys before any container starts. */
  readonly execution: Role;
  readonly task: Role;
  readonly worker: Role;
  readonly workerExternalId: string;

  constructor(
    scope: Construct,
    id: string,
    props: { bucket: RunBucket; table: RunTable; keys: ModelKeys; logs: ILogGroup },
  ) {
    super(scope, id);
    // Of the stack's own id, which no container of a task can ask for.
    this.workerExternalId = Fn.select(2, Fn.split('/', Stack.of(this).stackId));
    this.execution = new Role(this, 'Execution', {
      description: 'Of ECS, while it starts a task',
      assumedBy: this.tasksOfThisAccount(),
    });
    props.logs.grantWrite(this.execution);
    props.keys.grantRead(this.execution);
    this.task = new Role(this, 'Task', {
      description: 'Of every container of a task: assumes the worker role, nothing else',
      assumedBy: this.tasksOfThisAccount(),
    });
    this.worker = new Role(this, 'Worker', {
      description: 'Of the agent container',
      assumedBy: new ArnPrincipal(this.task.roleArn),
      externalIds: [this.workerExternalId],
    });
    this.task.addToPolicy(
      new PolicyStatement({ actions: ['sts:AssumeRole'], resources: [this.worker.roleArn] }),
    );
    grantWork(this.worker, props.bucket, props.table);
  }

  private tasksOfThisAccount(): ServicePrincipal {
    const { account } = Stack.of(this);
    return new ServicePrincipal('ecs-tasks.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': account } },
    });
  }
}

function grantWork(worker: Role, bucket: RunBucket, table: RunTable): void {
  bucket.grantRead(worker, 'runs/*/run.json', 'runs/*/private.json', 'runs/*/passes/*');
  bucket.grantRead(worker, 'runs/*/samples/*');
  bucket.grantPut(worker, 'runs/*/samples/*');
  bucket.grantList(worker, 'runs/*/samples/*', 'runs/*/private.json');
  table.grantRunItems(worker, 'GetItem', 'Query', 'PutItem', 'UpdateItem');
}
