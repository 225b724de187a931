import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, PutBucketVersioningCommand, S3Client } from '@aws-sdk/client-s3';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Bucket } from '../../src/adapters/aws/bucket.ts';
import type { Table } from '../../src/adapters/aws/table.ts';

const SETTINGS = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
};

export interface CloudResources {
  table: Table;
  bucket: Bucket;
  sqs: SQSClient;
  queueUrl: string;
}

/** Table, bucket and queue as the stack makes them, under a name of their own. */
export async function makeCloudResources(endpoint: string, name: string): Promise<CloudResources> {
  const of = { ...SETTINGS, endpoint };
  const dynamo = new DynamoDBClient(of);
  const s3 = new S3Client({ ...of, forcePathStyle: true });
  const sqs = new SQSClient(of);
  const text = (attribute: string) => ({ AttributeName: attribute, AttributeType: 'S' as const });
  const hash = (attribute: string) => ({ AttributeName: attribute, KeyType: 'HASH' as const });
  const range = (attribute: string) => ({ AttributeName: attribute, KeyType: 'RANGE' as const });
  await dynamo.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        text('pk'),
        text('sk'),
        text('live_pk'),
        { AttributeName: 'lease_until', AttributeType: 'N' },
        text('runs_pk'),
        text('started_at'),
      ],
      KeySchema: [hash('pk'), range('sk')],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'live',
          KeySchema: [hash('live_pk'), range('lease_until')],
          Projection: { ProjectionType: 'ALL' },
        },
        {
          IndexName: 'runs',
          KeySchema: [hash('runs_pk'), range('started_at')],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    }),
  );
  await s3.send(new CreateBucketCommand({ Bucket: name }));
  await s3.send(
    new PutBucketVersioningCommand({
      Bucket: name,
      VersioningConfiguration: { Status: 'Enabled' },
    }),
  );
  const { QueueUrl: queueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
  const client = DynamoDBDocumentClient.from(dynamo, {
    marshallOptions: { removeUndefinedValues: true },
  });
  return { table: { client, name }, bucket: { client: s3, name }, sqs, queueUrl };
}
