import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { dispatcherEnvSchema } from '../../functions/dispatcher/env.ts';
import { mergeEnvSchema } from '../../functions/merge/env.ts';
import { starterEnvSchema } from '../../functions/starter/env.ts';
import { asText } from './role-statements.ts';
import { synthesise } from './synthesise.ts';

const template = synthesise({ workerImageArm64: 'registry.test/worker:1-arm64' });
const FUNCTIONS = [
  { name: 'talaria-starter', schema: starterEnvSchema },
  { name: 'talaria-dispatcher', schema: dispatcherEnvSchema },
  { name: 'talaria-merge', schema: mergeEnvSchema },
];

describe.each(FUNCTIONS)('$name', ({ name, schema }) => {
  const [resource] = Object.values(
    template.findResources('AWS::Lambda::Function', { Properties: { FunctionName: name } }),
  );
  const properties = resource?.['Properties'];

  test('runs on Node 22 and arm64, and logs to a group that forgets', () => {
    expect(properties).toMatchObject({ Runtime: 'nodejs22.x', Architectures: ['arm64'] });
    template.hasResourceProperties('AWS::Logs::LogGroup', {
      LogGroupName: `/aws/lambda/${name}`,
      RetentionInDays: 30,
    });
    expect(properties).toHaveProperty('LoggingConfig.LogGroup');
  });

  test('has an environment that it can read', () => {
    const variables = Object.entries(properties.Environment.Variables as Record<string, unknown>);
    const environment = Object.fromEntries(variables.map(([key, value]) => [key, asText(value)]));
    expect(() => schema.parse({ ...environment, AWS_REGION: 'eu-west-1' })).not.toThrow();
  });

  test('keeps the events that it failed on', () => {
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: Match.stringLikeRegexp(name.endsWith('starter') ? 'Starter' : '') },
      DestinationConfig: {
        OnFailure: {
          Destination: { 'Fn::GetAtt': [Match.stringLikeRegexp('FailedEvents'), 'Arn'] },
        },
      },
    });
  });
});

describe('what calls the functions', () => {
  test('uploaded datasets, packed or not, call the starter', () => {
    const suffixed = (suffix: string) => ({
      Events: ['s3:ObjectCreated:*'],
      LambdaFunctionArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^StarterFunction'), 'Arn'] },
      Filter: {
        Key: {
          FilterRules: Match.arrayWith([
            { Name: 'suffix', Value: suffix },
            { Name: 'prefix', Value: 'datasets/' },
          ]),
        },
      },
    });
    template.hasResourceProperties('Custom::S3BucketNotifications', {
      NotificationConfiguration: {
        LambdaFunctionConfigurations: [suffixed('.jsonl'), suffixed('.jsonl.gz')],
      },
    });
  });

  test('closed batches call the merge; what it can’t take is bisected and kept', () => {
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BisectBatchOnFunctionError: true,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      MaximumRetryAttempts: 5,
      DestinationConfig: {
        OnFailure: {
          Destination: { 'Fn::GetAtt': [Match.stringLikeRegexp('FailedEvents'), 'Arn'] },
        },
      },
      FilterCriteria: {
        Filters: [
          {
            Pattern: '{"dynamodb":{"NewImage":{"sk":{"S":["BATCH"]},"state":{"S":["closed"]}}}}',
          },
        ],
      },
    });
  });

  test('the minute and each stopped task of the cluster call the dispatcher', () => {
    template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(1 minute)' });
    template.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: {
        source: ['aws.ecs'],
        'detail-type': ['ECS Task State Change'],
        detail: {
          lastStatus: ['STOPPED'],
          clusterArn: [{ 'Fn::GetAtt': [Match.stringLikeRegexp('^TaskFleetCluster'), 'Arn'] }],
        },
      },
    });
  });
});

describe('cluster and logs', () => {
  test('the cluster has Fargate and Fargate Spot', () => {
    template.hasResourceProperties('AWS::ECS::Cluster', {
      CapacityProviders: ['FARGATE', 'FARGATE_SPOT'],
    });
  });

  test('every log group forgets', () => {
    template.resourceCountIs('AWS::Logs::LogGroup', 4);
    template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
  });
});

test('destroy is asked for by a setting', () => {
  const destroyed = synthesise({ removalPolicy: 'destroy' });
  for (const type of ['AWS::S3::Bucket', 'AWS::DynamoDB::Table', 'AWS::SecretsManager::Secret']) {
    template.allResources(type, { DeletionPolicy: 'Retain' });
    destroyed.allResources(type, { DeletionPolicy: 'Delete' });
  }
});

test('concurrency is set apart by a setting', () => {
  const reserved = synthesise({ reserveConcurrency: true });
  const count = (of: typeof reserved) =>
    Object.values(of.findResources('AWS::Lambda::Function')).filter(
      ({ Properties }) => Properties.ReservedConcurrentExecutions !== undefined,
    ).length;
  expect([count(template), count(reserved)]).toEqual([0, 1]);
});
