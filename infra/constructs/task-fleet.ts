import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { CfnCluster } from 'aws-cdk-lib/aws-ecs';
import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { accept } from '../nag.ts';
import type { Settings } from '../settings.ts';
import type { ModelKeys } from './model-keys.ts';
import { grantLogins, grantPull } from './registry-access.ts';
import type { RunBucket } from './run-bucket.ts';
import type { RunTable } from './run-table.ts';
import { TaskRoles } from './task-roles.ts';

/** What tasks run on, as whom they run and where they log. Tasks themselves are the dispatcher's. */
export class TaskFleet extends Construct {
  readonly clusterArn: string;
  readonly logGroupName: string;
  readonly roles: TaskRoles;
  /** How the names of all task definitions begin. */
  readonly family: string;
  private readonly cluster: CfnCluster;

  constructor(
    scope: Construct,
    id: string,
    props: {
      bucket: RunBucket;
      table: RunTable;
      keys: ModelKeys;
      settings: Settings;
    },
  ) {
    super(scope, id);
    const { stackName } = Stack.of(this);
    this.family = stackName;
    this.cluster = new CfnCluster(this, 'Cluster', {
      capacityProviders: ['FARGATE', 'FARGATE_SPOT'],
      clusterSettings: [{ name: 'containerInsights', value: 'disabled' }],
    });
    accept(this.cluster, 'ECS4', 'Charged by task: the table has what each one did.');
    this.clusterArn = this.cluster.attrArn;
    const logs = new LogGroup(this, 'Logs', {
      logGroupName: `/talaria/${stackName}/tasks`,
      retention: props.settings.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.logGroupName = logs.logGroupName;
    this.roles = new TaskRoles(this, 'Roles', { ...props, logs });
    grantPull(this.roles.execution);
    grantLogins(this.roles.execution, props.settings.registrySecrets);
  }

  /** Starting tasks of this family on this cluster, and stopping and looking at those. */
  grantLaunch(role: IRole): void {
    const onThisCluster = { ArnEquals: { 'ecs:cluster': this.clusterArn } };
    const allow = (actions: string[], resources: string[], conditions = {}) =>
      role.addToPrincipalPolicy(new PolicyStatement({ actions, resources, conditions }));
    allow(['ecs:RunTask'], [this.arn('task-definition', `${this.family}-*:*`)], onThisCluster);
    allow(
      ['ecs:StopTask', 'ecs:DescribeTasks'],
      [this.arn('task', `${this.cluster.ref}/*`)],
      onThisCluster,
    );
    allow(['ecs:ListTasks'], ['*'], onThisCluster);
    allow(
      [
        'ecs:RegisterTaskDefinition',
        'ecs:DeregisterTaskDefinition',
        'ecs:ListTaskDefinitions',
        'ecs:ListTaskDefinitionFamilies',
      ],
      ['*'],
    );
    allow(
      ['ecs:TagResource'],
      [
        this.arn('task-definition', `${this.family}-*:*`),
        this.arn('task', `${this.cluster.ref}/*`),
      ],
      { StringEquals: { 'ecs:CreateAction': ['RegisterTaskDefinition', 'RunTask'] } },
    );
    allow(['iam:PassRole'], [this.roles.task.roleArn, this.roles.execution.roleArn], {
      StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' },
    });
    this.acceptLaunch(role);
  }

  private acceptLaunch(role: IRole): void {
    const ecs = 'arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>';
    const cluster = `<${Stack.of(this).getLogicalId(this.cluster)}>`;
    accept(
      role,
      `IAM5[Resource::${ecs}:task-definition/${this.family}-*:*]`,
      'Task definitions are registered as images come, in this family.',
    );
    accept(role, `IAM5[Resource::${ecs}:task/${cluster}/*]`, 'Tasks of this cluster have any id.');
    accept(
      role,
      'IAM5[Resource::*]',
      'ECS takes no resource for these: listing is held to the cluster, definitions start nothing.',
    );
  }

  private arn(resource: string, resourceName: string): string {
    return Stack.of(this).formatArn({ service: 'ecs', resource, resourceName });
  }
}
