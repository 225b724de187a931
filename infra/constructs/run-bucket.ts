import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  Effect,
  type IRole,
  Policy,
  PolicyStatement,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type CfnBucket,
  EventType,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { LambdaDestination } from 'aws-cdk-lib/aws-s3-notifications';
import { Construct } from 'constructs';
import { accept } from '../nag.ts';

/** Ephemeral prompts and prefills: as they are uploaded, and as a run has them. */
const PRIVATE_KEYS = ['datasets/*/private.json', 'runs/*/private.json'];

const DATASET_SUFFIXES = ['.jsonl', '.jsonl.gz'];

/** The one bucket: uploads under `datasets/`, what runs make under `runs/`. */
export class RunBucket extends Construct {
  readonly name: string;
  private readonly bucket: Bucket;
  private readonly notifier: Role;

  constructor(scope: Construct, id: string, props: { keep: boolean; noncurrentDays: number }) {
    super(scope, id);
    this.notifier = new Role(this, 'Notifier', {
      description: 'Sets the notifications of the bucket while the stack is deployed',
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    });
    this.bucket = new Bucket(this, 'Bucket', {
      versioned: true,
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      lifecycleRules: [
        {
          id: 'noncurrent',
          noncurrentVersionExpiration: Duration.days(props.noncurrentDays),
          expiredObjectDeleteMarker: true,
        },
        { id: 'incomplete', abortIncompleteMultipartUploadAfter: Duration.days(7) },
      ],
      removalPolicy: props.keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      // Left to itself the CDK gives its function a managed policy, and every bucket.
      notificationsHandlerRole: this.notifier.withoutPolicyUpdates(),
    });
    this.name = this.bucket.bucketName;
    accept(this.bucket, 'S1', 'The table says what happened; a log of each request costs more.');
  }

  /** Calls a function for each uploaded dataset, and for nothing else. */
  onDataset(called: IFunction): void {
    for (const suffix of DATASET_SUFFIXES) {
      const destination = new LambdaDestination(called);
      this.bucket.addEventNotification(EventType.OBJECT_CREATED, destination, {
        prefix: 'datasets/',
        suffix,
      });
    }
    const allowed = new Policy(this, 'SetNotifications', {
      roles: [this.notifier],
      statements: [
        new PolicyStatement({
          actions: ['s3:PutBucketNotification', 's3:GetBucketNotification'],
          resources: [this.bucket.bucketArn],
        }),
      ],
    });
    this.bucket.node.findChild('Notifications').node.addDependency(allowed);
  }

  /** Reading of objects whose keys match, as they are now. */
  grantRead(role: IRole, ...keys: string[]): void {
    this.grant(role, ['s3:GetObject'], keys);
  }

  /** Reading of objects in a named version too. */
  grantReadVersions(role: IRole, ...keys: string[]): void {
    this.grant(role, ['s3:GetObject', 's3:GetObjectVersion'], keys);
  }

  grantPut(role: IRole, ...keys: string[]): void {
    this.grant(role, ['s3:PutObject'], keys);
  }

  /** Putting in parts too, which may have to be given up. */
  grantPutParts(role: IRole, ...keys: string[]): void {
    this.grant(role, ['s3:PutObject', 's3:AbortMultipartUpload'], keys);
  }

  /** Deleting, and that of one version: which leaves nothing of it. */
  grantDelete(role: IRole, ...keys: string[]): void {
    this.grant(role, ['s3:DeleteObject', 's3:DeleteObjectVersion'], keys);
  }

  /** Deleting that leaves the version, until it expires. */
  grantDeleteNow(role: IRole, ...keys: string[]): void {
    this.grant(role, ['s3:DeleteObject'], keys);
  }

  /**
   * Listing of keys that begin so. Without prefixes it is also what tells an object that isn't there
   * from one that may not be read.
   */
  grantList(role: IRole, ...prefixes: string[]): void {
    role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['s3:ListBucket'],
        resources: [this.bucket.bucketArn],
        ...(prefixes.length > 0 && { conditions: { StringLike: { 's3:prefix': prefixes } } }),
      }),
    );
  }

  /** Holds over every grant: ephemeral prompts are for the worker, by way of the starter. */
  denyPrivate(role: IRole): void {
    role.addToPrincipalPolicy(
      new PolicyStatement({
        effect: Effect.DENY,
        actions: ['s3:GetObject', 's3:GetObjectVersion'],
        resources: PRIVATE_KEYS.map((key) => this.bucket.arnForObjects(key)),
      }),
    );
  }

  private grant(role: IRole, actions: string[], keys: string[]): void {
    const resources = keys.map((key) => this.bucket.arnForObjects(key));
    role.addToPrincipalPolicy(new PolicyStatement({ actions, resources }));
    const arn = `<${Stack.of(this).getLogicalId(this.bucket.node.defaultChild as CfnBucket)}.Arn>`;
    for (const key of keys) {
      accept(role, `IAM5[Resource::${arn}/${key}]`, 'Keys hold the names of runs and batches.');
    }
  }
}
