import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
  waitUntilStackCreateComplete,
} from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Bucket } from '../../src/adapters/aws/bucket.ts';
import type { Table } from '../../src/adapters/aws/table.ts';

const SETTINGS = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
};

/** A deployed stack with just what the command line talks to: no functions, so nothing starts. */
export interface SmallStack {
  bucket: Bucket;
  table: Table;
  secrets: SecretsManagerClient;
  secretArn: string;
}

const TEMPLATE = {
  Resources: {
    Bucket: {
      Type: 'AWS::S3::Bucket',
      Properties: { VersioningConfiguration: { Status: 'Enabled' } },
    },
    Table: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
        ],
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      },
    },
    Keys: { Type: 'AWS::SecretsManager::Secret', Properties: { SecretString: '{}' } },
  },
  // As infra/talaria-stack.ts names them.
  Outputs: {
    BucketName: { Value: { Ref: 'Bucket' } },
    TableName: { Value: { Ref: 'Table' } },
    ModelKeysArn: { Value: { Ref: 'Keys' } },
  },
};

export async function deploySmallStack(endpoint: string, name: string): Promise<SmallStack> {
  const of = { ...SETTINGS, endpoint };
  const client = new CloudFormationClient(of);
  const TemplateBody = JSON.stringify(TEMPLATE);
  await client.send(new CreateStackCommand({ StackName: name, TemplateBody }));
  await waitUntilStackCreateComplete({ client, maxWaitTime: 60, minDelay: 1 }, { StackName: name });
  const { Stacks: [stack] = [] } = await client.send(
    new DescribeStacksCommand({ StackName: name }),
  );
  const output = (key: string) =>
    stack?.Outputs?.find(({ OutputKey }) => OutputKey === key)?.OutputValue ?? '';
  const s3 = new S3Client({ ...of, forcePathStyle: true });
  return {
    bucket: { client: s3, name: output('BucketName') },
    table: {
      client: DynamoDBDocumentClient.from(new DynamoDBClient(of)),
      name: output('TableName'),
    },
    secrets: new SecretsManagerClient(of),
    secretArn: output('ModelKeysArn'),
  };
}
