import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { synthesise } from './synthesise.ts';

const template = synthesise();

describe('bucket, queues and table', () => {
  test('the bucket is private, encrypted and versioned, and old versions expire', () => {
    template.hasResource('AWS::S3::Bucket', {
      DeletionPolicy: 'Retain',
      Properties: {
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        BucketEncryption: Match.objectLike({}),
        VersioningConfiguration: { Status: 'Enabled' },
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
        LifecycleConfiguration: {
          Rules: Match.arrayWith([
            Match.objectLike({
              NoncurrentVersionExpiration: { NoncurrentDays: 30 },
              Status: 'Enabled',
            }),
            Match.objectLike({ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 } }),
          ]),
        },
      },
    });
  });

  test('no current version expires', () => {
    const buckets = JSON.stringify(template.findResources('AWS::S3::Bucket'));
    expect(buckets).toContain('NoncurrentDays');
    expect(buckets).not.toContain('ExpirationInDays');
  });

  test.each([
    ['AWS::S3::BucketPolicy', 1, 's3:*'],
    ['AWS::SQS::QueuePolicy', 3, 'sqs:*'],
  ])('every %s refuses all that comes without TLS', (type, count, action) => {
    template.resourceCountIs(type, count);
    template.allResourcesProperties(type, {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Deny',
            Principal: { AWS: '*' },
            Action: action,
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
        ]),
      },
    });
  });

  test('every queue is encrypted, and batches received 20 times end in another', () => {
    template.resourceCountIs('AWS::SQS::Queue', 3);
    template.allResourcesProperties('AWS::SQS::Queue', { SqsManagedSseEnabled: true });
    template.hasResourceProperties('AWS::SQS::Queue', {
      RedrivePolicy: {
        maxReceiveCount: 20,
        deadLetterTargetArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('DeadLetters'), 'Arn'] },
      },
    });
  });

  test('the table is on demand, can be restored, and has its two sparse indexes', () => {
    template.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
        GlobalSecondaryIndexes: [
          Match.objectLike({
            IndexName: 'live',
            KeySchema: [
              { AttributeName: 'live_pk', KeyType: 'HASH' },
              { AttributeName: 'lease_until', KeyType: 'RANGE' },
            ],
          }),
          Match.objectLike({
            IndexName: 'runs',
            KeySchema: [
              { AttributeName: 'runs_pk', KeyType: 'HASH' },
              { AttributeName: 'started_at', KeyType: 'RANGE' },
            ],
          }),
        ],
      },
    });
  });
});
