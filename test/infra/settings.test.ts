import { describe, expect, test } from 'vitest';
import { readSettings, settings } from '../../infra/settings.ts';
import { cloudRunConfig } from '../../src/core/cloud/cloud-config.ts';
import { CDK_CONTEXT } from './synthesise.ts';

describe('settings of the stack', () => {
  test('have a default each, which is what cdk.json says', () => {
    const own = Object.entries(CDK_CONTEXT).filter(([key]) => !key.startsWith('@aws-cdk/'));
    expect(readSettings(CDK_CONTEXT)).toEqual(readSettings({}));
    expect(own.map(([key]) => key)).toEqual(Object.keys(settings));
  });

  test('are taken as JSON and as text of the command line', () => {
    const given = {
      maxTasks: '7',
      spot: 'false',
      vpcId: 'vpc-1',
      subnetIds: 'subnet-1, subnet-2',
      defaultRunConfig: '{"batch_size": 2}',
      registrySecrets: { 'registry.test': 'arn:aws:secretsmanager:eu-west-1:1:secret:a-b' },
    };
    expect(readSettings(given)).toMatchObject({
      maxTasks: 7,
      spot: false,
      vpcId: 'vpc-1',
      subnetIds: ['subnet-1', 'subnet-2'],
      defaultRunConfig: { batch_size: 2 },
      registrySecrets: given.registrySecrets,
    });
  });

  test.each([
    [{ maxTask: 7 }, /maxTask: no such setting; there are stackName, /],
    [{ maxTasks: 'many' }, /maxTasks: expected a whole number from 1 to 10000, not "many"/],
    [{ maxTasks: 0 }, /maxTasks: expected a whole number from 1 to 10000, not 0/],
    [{ taskCpu: 1000 }, /taskCpu: expected one of 256, 512, 1024, 2048, 4096, 8192, 16384/],
    [
      { taskCpu: 256, taskMemory: 4096 },
      /with 256 CPU units Fargate has 512, 1024, 2048, not 4096/,
    ],
    [{ taskDisk: 20 }, /taskDisk: expected a whole number from 21 to 200, not 20/],
    [{ spot: 'yes' }, /spot: expected true or false, not "yes"/],
    [{ platform: 'gcp' }, /platform: expected aws or emulator, not "gcp"/],
    [{ removalPolicy: 'keep' }, /removalPolicy: expected retain or destroy, not "keep"/],
    [{ logRetentionDays: 2 }, /logRetentionDays: expected one of 1, 3, 5/],
    [{ defaultRunConfig: '[1]' }, /defaultRunConfig: expected a JSON object, not "\[1\]"/],
    [{ vpcId: 'vpc-1' }, /subnetIds: expected subnets of the VPC in vpcId/],
    [{ subnetIds: 'subnet-1' }, /vpcId: expected the VPC of the subnets in subnetIds/],
    [{ stackName: '1st' }, /stackName: expected a letter/],
  ])('%j is refused, in words that help', (given, words) => {
    expect(() => readSettings(given)).toThrow(words);
  });

  test('all that are wrong are named at once', () => {
    expect(() => readSettings({ spot: 1, taskDisk: 1 })).toThrow(/taskDisk: .*\n.*spot: /);
  });

  test('the default run config is one that uploads can be run with', () => {
    const standard = JSON.stringify(readSettings({}).defaultRunConfig);
    const sources = { runName: 'a', file: 'a.jsonl', given: undefined, stored: undefined };
    expect(cloudRunConfig({ ...sources, standard }).batchSize).toBe(8);
  });
});
