import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { allowedActions, asText, statementsOf } from './role-statements.ts';
import { synthesise } from './synthesise.ts';

const template = synthesise();
const FUNCTION_ROLES = ['StarterRole', 'DispatcherRole', 'MergeRole'];
const TASK_ROLES = ['TaskFleetRolesExecution', 'TaskFleetRolesTask', 'TaskFleetRolesWorker'];

describe('roles', () => {
  test('exactly two roles are passed, and only to ECS tasks', () => {
    const passing = [...FUNCTION_ROLES, ...TASK_ROLES].flatMap((role) =>
      statementsOf(template, role).filter(({ actions }) => actions.includes('iam:PassRole')),
    );
    expect(passing).toEqual([
      {
        effect: 'Allow',
        actions: ['iam:PassRole'],
        resources: ['<TaskFleetRolesExecution.Arn>', '<TaskFleetRolesTask.Arn>'],
        condition: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
      },
    ]);
  });

  test('tasks are started of one family on one cluster, by the dispatcher alone', () => {
    const starting = statementsOf(template, 'DispatcherRole').find(({ actions }) =>
      actions.includes('ecs:RunTask'),
    );
    expect(starting).toMatchObject({
      actions: ['ecs:RunTask'],
      resources: [
        'arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task-definition/talaria-*:*',
      ],
    });
    expect(asText(conditionOf(starting, 'ArnEquals', 'ecs:cluster'))).toBe(
      '<TaskFleetCluster.Arn>',
    );
    for (const role of ['StarterRole', 'MergeRole', ...TASK_ROLES]) {
      expect([...allowedActions(template, role).keys()].join()).not.toContain('ecs:');
    }
  });

  test('a task is stopped or looked at on that cluster only', () => {
    const stopping = statementsOf(template, 'DispatcherRole').find(({ actions }) =>
      actions.includes('ecs:StopTask'),
    );
    expect(stopping).toMatchObject({
      actions: ['ecs:DescribeTasks', 'ecs:StopTask'],
      resources: [
        'arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task/<TaskFleetCluster>/*',
      ],
    });
  });

  test('the task role may only assume the worker role', () => {
    expect(statementsOf(template, 'TaskFleetRolesTask')).toEqual([
      {
        effect: 'Allow',
        actions: ['sts:AssumeRole'],
        resources: ['<TaskFleetRolesWorker.Arn>'],
        condition: undefined,
      },
    ]);
  });

  test('the worker role takes the task role and the external id, which the agent gets', () => {
    const stackId = { 'Fn::Select': [2, { 'Fn::Split': ['/', { Ref: 'AWS::StackId' }] }] };
    template.hasResourceProperties('AWS::IAM::Role', {
      Description: 'Of the agent container',
      AssumeRolePolicyDocument: {
        Statement: [
          {
            Effect: 'Allow',
            Action: 'sts:AssumeRole',
            Principal: {
              AWS: { 'Fn::GetAtt': [Match.stringLikeRegexp('^TaskFleetRolesTask'), 'Arn'] },
            },
            Condition: { StringEquals: { 'sts:ExternalId': stackId } },
          },
        ],
      },
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ WORKER_EXTERNAL_ID: stackId }) },
    });
  });

  test('ECS itself takes task and execution role for this account only', () => {
    for (const description of [/^Of every container/, /^Of ECS/]) {
      template.hasResourceProperties('AWS::IAM::Role', {
        Description: Match.stringLikeRegexp(description.source),
        AssumeRolePolicyDocument: {
          Statement: [
            Match.objectLike({
              Principal: { Service: 'ecs-tasks.amazonaws.com' },
              Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
            }),
          ],
        },
      });
    }
  });

  test('the worker reads and writes what is a run’s, and no more of it than it needs', () => {
    const allowed = allowedActions(template, 'TaskFleetRolesWorker');
    expect(allowed.get('s3:GetObject')).toEqual([
      '<RunBucket.Arn>/runs/*/passes/*',
      '<RunBucket.Arn>/runs/*/private.json',
      '<RunBucket.Arn>/runs/*/run.json',
      '<RunBucket.Arn>/runs/*/samples/*',
    ]);
    expect(allowed.get('s3:PutObject')).toEqual(['<RunBucket.Arn>/runs/*/samples/*']);
    const items = statementsOf(template, 'TaskFleetRolesWorker').filter(({ actions }) =>
      actions.some((action) => action.startsWith('dynamodb:')),
    );
    expect(items).toEqual([
      {
        effect: 'Allow',
        actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:UpdateItem'],
        resources: ['<RunTable.Arn>'],
        condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['RUN#*'] } },
      },
    ]);
  });

  test('a run’s private.json is read by the worker role alone', () => {
    const readers = [...FUNCTION_ROLES, ...TASK_ROLES].filter((role) => {
      const readable = allowedActions(template, role).get('s3:GetObject') ?? [];
      return readable.some((resource) => covers(resource, 'runs/a/private.json')) && !denies(role);
    });
    expect(readers).toEqual(['TaskFleetRolesWorker']);
  });

  test('model keys are read by the execution role alone, for the agent container', () => {
    const readers = [...FUNCTION_ROLES, ...TASK_ROLES].filter((role) =>
      allowedActions(template, role).has('secretsmanager:GetSecretValue'),
    );
    expect(readers).toEqual(['TaskFleetRolesExecution']);
  });

  test('only actions that know no resources may be done to all', () => {
    const everything = [...FUNCTION_ROLES, ...TASK_ROLES].flatMap((role) =>
      statementsOf(template, role)
        .filter(({ resources }) => resources.includes('*'))
        .flatMap(({ actions }) => actions),
    );
    expect(everything.sort()).toEqual([
      'dynamodb:ListStreams',
      'ecr:GetAuthorizationToken',
      'ecr:GetAuthorizationToken',
      'ecs:DeregisterTaskDefinition',
      'ecs:ListTaskDefinitionFamilies',
      'ecs:ListTaskDefinitions',
      'ecs:ListTasks',
      'ecs:RegisterTaskDefinition',
    ]);
  });

  test('no role has a managed policy, and no statement a wildcard action', () => {
    template.allResourcesProperties('AWS::IAM::Role', { ManagedPolicyArns: Match.absent() });
    for (const role of [...FUNCTION_ROLES, ...TASK_ROLES, 'RunBucketNotifier']) {
      expect(statementsOf(template, role)).not.toEqual([]);
      expect([...allowedActions(template, role).keys()].join()).not.toContain('*');
    }
  });

  test('nothing allows ECS Exec', () => {
    expect(JSON.stringify(template.toJSON())).not.toMatch(/ssmmessages|ExecuteCommand/);
  });
});

function conditionOf(
  statement: { condition: unknown } | undefined,
  operator: string,
  key: string,
): unknown {
  const condition = statement?.condition as Record<string, Record<string, unknown>> | undefined;
  return condition?.[operator]?.[key];
}

function denies(role: string): boolean {
  return statementsOf(template, role).some(
    ({ effect, actions, resources }) =>
      effect === 'Deny' &&
      actions.includes('s3:GetObject') &&
      resources.includes('<RunBucket.Arn>/runs/*/private.json'),
  );
}

/** Whether a resource of S3, with `*` for anything, is that key among others. */
function covers(resource: string, key: string): boolean {
  const pattern = resource.replace('<RunBucket.Arn>/', '');
  const parts = pattern.split('*').map((part) => part.replace(/[.]/g, '\\.'));
  return new RegExp(`^${parts.join('.*')}$`).test(key);
}
