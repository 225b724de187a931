import { CloudFormationClient, ListStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { ListObjectVersionsCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runKey } from '../../../src/adapters/aws/table-keys.ts';
import { type DeployedStack, deployStack } from '../../support/deployed-stack.ts';
import { hasEmulator } from '../../support/emulator.ts';

const DEPLOY_MS = 240_000;
const CREDENTIALS = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
};

describe.skipIf(!hasEmulator())('cdk deploy', () => {
  let stack: DeployedStack;
  const client = () => ({ ...CREDENTIALS, endpoint: stack.emulator.endpoint });
  const bucket = () => new S3Client({ ...client(), forcePathStyle: true });
  const runItem = async (run: string) => {
    const table = DynamoDBDocumentClient.from(new DynamoDBClient(client()));
    const get = new GetCommand({ TableName: stack.outputs.TableName, Key: runKey(run) });
    return (await table.send(get)).Item;
  };
  const upload = (Key: string, Body: string) =>
    bucket().send(new PutObjectCommand({ Bucket: stack.outputs.BucketName, Key, Body }));

  beforeAll(async () => {
    stack = await deployStack({
      stackName: 'talaria-deploy',
      workerImage: 'talaria-none:worker',
      defaultImage: 'talaria-none:default',
    });
  }, DEPLOY_MS);
  afterAll(async () => await stack?.stop());

  test('an upload is planned, with the default config', async () => {
    const rows = Array.from(
      { length: 9 },
      (_, n) => `${JSON.stringify({ prompt: `Say ${n}.` })}\n`,
    );
    await upload('datasets/first/some rows.jsonl', rows.join(''));
    const planned = async () => await runItem('first');
    await vi.waitFor(async () => expect((await planned())?.['batches_total']).toBe(2), WAIT);
    expect(await planned()).toMatchObject({
      run_name: 'first',
      pass: 1,
      dataset: EXPECTED_DATASET,
    });
  }, 60_000);

  test('what is no dataset starts nothing', async () => {
    await upload('datasets/second/run.json', '{}');
    await upload('datasets/second/deeper/prompts.jsonl', '{"prompt":"x"}\n');
    await upload('runs/second/batch_0.jsonl', '{"prompt":"x"}\n');
    await upload('datasets/third/prompts.jsonl', '{"prompt":"x"}\n');
    await vi.waitFor(async () => expect(await runItem('third')).toBeDefined(), WAIT);
    expect(await runItem('second')).toBeUndefined();
  }, 60_000);

  test('objects keep their earlier versions', async () => {
    await upload('runs/third/twice', '1');
    await upload('runs/third/twice', '2');
    const list = { Bucket: stack.outputs.BucketName, Prefix: 'runs/third/twice' };
    const { Versions } = await bucket().send(new ListObjectVersionsCommand(list));
    expect(Versions).toHaveLength(2);
  });

  test(
    'cdk destroy leaves no stack and no function',
    async () => {
      await stack.destroy();
      const stacks = await new CloudFormationClient(client()).send(new ListStacksCommand({}));
      const state = stacks.StackSummaries?.find(({ StackName }) => StackName === 'talaria-deploy');
      expect(state?.StackStatus).toBe('DELETE_COMPLETE');
      const functions = await new LambdaClient(client()).send(new ListFunctionsCommand({}));
      expect(functions.Functions).toEqual([]);
    },
    DEPLOY_MS,
  );
});

const WAIT = { timeout: 40_000, interval: 500 };
const EXPECTED_DATASET = { key: 'datasets/first/some rows.jsonl' };
