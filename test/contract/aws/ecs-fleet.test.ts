import { ECSClient } from '@aws-sdk/client-ecs';
import { afterEach, describe, expect, it } from 'vitest';
import { createEcsFleet } from '../../../src/adapters/aws/ecs-fleet.ts';
import type { LaunchRecord } from '../../../src/core/cloud/launch-record.ts';
import { type EcsAnswer, startEcsAnswers } from '../../support/ecs-answers.ts';

const LAUNCH: LaunchRecord = {
  token: 'a'.repeat(64),
  run_name: 'run',
  batch: 3,
  launch: 2,
  image: 'debian:12',
  task_definition: 'arn:aws:ecs:us-east-1:000000000000:task-definition/talaria-1:1',
  sandboxes: 8,
  spot: true,
  remaining: 8,
  starts: 0,
  task_arn: '',
  launched_at: 1,
  is_claimed: false,
  stop: null,
};

describe('RunTask', () => {
  let stop: (() => Promise<void>) | undefined;
  afterEach(() => stop?.());

  async function fleet(...answers: EcsAnswer[]) {
    const server = await startEcsAnswers(answers);
    stop = server.stop;
    const client = new ECSClient({
      endpoint: server.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      maxAttempts: 1,
    });
    const settings = {
      clusterArn: 'arn:cluster',
      subnetIds: ['subnet-1', 'subnet-2'],
      securityGroupIds: ['sg-1'],
      assignPublicIp: 'DISABLED' as const,
      tags: { 'talaria:family': 'talaria' },
    };
    return { fleet: createEcsFleet(client, settings), asked: server.asked };
  }

  it('asks for one task, named so that it is started once, without ECS Exec', async () => {
    const { fleet: at, asked } = await fleet({ body: { tasks: [{ taskArn: 'arn:task' }] } });

    expect(await at.start(LAUNCH)).toEqual({ arn: 'arn:task' });
    await at.start(LAUNCH);

    expect(asked[0]).toMatchObject({
      action: 'RunTask',
      input: {
        cluster: 'arn:cluster',
        taskDefinition: LAUNCH.task_definition,
        count: 1,
        clientToken: LAUNCH.token,
        startedBy: LAUNCH.token,
        enableExecuteCommand: false,
        propagateTags: 'TASK_DEFINITION',
        capacityProviderStrategy: [{ capacityProvider: 'FARGATE_SPOT', weight: 1 }],
        networkConfiguration: {
          awsvpcConfiguration: {
            subnets: ['subnet-1', 'subnet-2'],
            securityGroups: ['sg-1'],
            assignPublicIp: 'DISABLED',
          },
        },
        overrides: {
          containerOverrides: [
            {
              name: 'agent',
              environment: [
                { name: 'RUN_NAME', value: 'run' },
                { name: 'BATCH', value: '3' },
                { name: 'LAUNCH', value: '2' },
              ],
            },
          ],
        },
      },
    });
    expect(asked[1]).toEqual(asked[0]);
  });

  it.each<[string, EcsAnswer, string]>([
    [
      'a failure for want of capacity',
      { body: { tasks: [], failures: [{ reason: 'Capacity is unavailable at this time.' }] } },
      'capacity',
    ],
    [
      'a failure for want of resources',
      { body: { tasks: [], failures: [{ arn: 'arn:x', reason: 'RESOURCE:CPU' }] } },
      'capacity',
    ],
    [
      'the quota of vCPUs',
      {
        status: 400,
        body: {
          __type: 'ClientException',
          message: 'You’ve reached the limit on the number of vCPUs you can run concurrently',
        },
      },
      'capacity',
    ],
    [
      'throttling',
      { status: 400, body: { __type: 'ThrottlingException', message: 'Rate exceeded' } },
      'throttled',
    ],
    [
      'a definition that is out of use',
      { status: 400, body: { __type: 'ClientException', message: 'TaskDefinition is inactive' } },
      'definition',
    ],
    [
      'a role that may not',
      { status: 400, body: { __type: 'AccessDeniedException', message: 'not authorized' } },
      'other',
    ],
    ['an answer of nothing', { body: { tasks: [], failures: [] } }, 'other'],
  ])('takes %s for a no', async (_, answer, refused) => {
    const { fleet: at } = await fleet(answer);
    expect(await at.start(LAUNCH)).toMatchObject({ refused });
  });

  it.each<[string, EcsAnswer]>([
    ['a connection that ends', { body: 'hang-up' }],
    ['a fault of ECS', { status: 500, body: { __type: 'ServerException', message: 'oops' } }],
  ])('does not know after %s', async (_, answer) => {
    const { fleet: at } = await fleet(answer);
    await expect(at.start(LAUNCH)).rejects.toThrow();
  });

  it('finds a stopped task by its token too', async () => {
    const { fleet: at, asked } = await fleet(
      { body: { taskArns: [] } },
      { body: { taskArns: ['arn:stopped'] } },
    );
    expect(await at.find('token')).toBe('arn:stopped');
    expect(asked.map(({ input }) => input['desiredStatus'])).toEqual(['RUNNING', 'STOPPED']);
  });

  it('tells tasks that run, have stopped, or are not known', async () => {
    const { fleet: at } = await fleet({
      body: {
        tasks: [
          { taskArn: 'arn:1', lastStatus: 'DEPROVISIONING', desiredStatus: 'STOPPED' },
          {
            taskArn: 'arn:2',
            lastStatus: 'STOPPED',
            stopCode: 'TaskFailedToStart',
            stoppedReason: 'CannotPullContainerError',
            containers: [
              { name: 'sandbox-0', reason: 'not found' },
              { name: 'agent', exitCode: 1 },
            ],
          },
        ],
        failures: [{ arn: 'arn:3', reason: 'MISSING' }],
      },
    });
    expect(await at.describe(['arn:1', 'arn:2', 'arn:3'])).toEqual([
      { arn: 'arn:1', state: 'alive' },
      {
        arn: 'arn:2',
        state: 'stopped',
        stop: {
          code: 'TaskFailedToStart',
          reason: 'CannotPullContainerError',
          containers: [
            { name: 'sandbox-0', exit_code: null, reason: 'not found' },
            { name: 'agent', exit_code: 1, reason: '' },
          ],
        },
      },
      { arn: 'arn:3', state: 'missing' },
    ]);
  });
});
