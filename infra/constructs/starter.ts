import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import type { StarterEnv } from '../../functions/starter/env.ts';
import type { Settings } from '../settings.ts';
import type { BatchQueue } from './batch-queue.ts';
import type { EnvironmentFor } from './environment.ts';
import {
  type FunctionSurroundings,
  grantInvoke,
  LambdaFunction,
  nameOf,
} from './lambda-function.ts';
import type { RunBucket } from './run-bucket.ts';
import type { RunTable } from './run-table.ts';

/** Plans a pass for each uploaded dataset. */
export class Starter extends Construct {
  constructor(
    scope: Construct,
    id: string,
    props: {
      bucket: RunBucket;
      table: RunTable;
      queue: BatchQueue;
      settings: Pick<Settings, 'defaultRunConfig'>;
      surroundings: FunctionSurroundings;
    },
  ) {
    super(scope, id);
    const { bucket, table, queue } = props;
    const starter = new LambdaFunction(this, 'Starter', {
      ...props.surroundings,
      name: 'starter',
      description: 'Plans a pass for each uploaded dataset',
      // A million rows over 10,000 images.
      memorySize: 2048,
      timeout: Duration.minutes(15),
      maxEventAge: Duration.hours(6),
      environment: {
        TABLE_NAME: table.name,
        BUCKET_NAME: bucket.name,
        QUEUE_URL: queue.queue.queueUrl,
        DISPATCHER_NAME: nameOf(this, 'dispatcher'),
        STARTER_NAME: nameOf(this, 'starter'),
        MERGE_NAME: nameOf(this, 'merge'),
        DEFAULT_RUN_CONFIG: JSON.stringify(props.settings.defaultRunConfig),
      } satisfies EnvironmentFor<StarterEnv>,
    });
    bucket.onDataset(starter.function);
    bucket.grantList(starter.role);
    bucket.grantReadVersions(starter.role, 'datasets/*');
    bucket.grantRead(starter.role, 'runs/*/run.json', 'runs/*/passes/*');
    // What batches of an earlier pass have paid for is taken in when they are closed.
    bucket.grantRead(starter.role, 'runs/*/samples/*');
    bucket.grantPut(starter.role, 'runs/*/run.json', 'runs/*/private.json', 'runs/*/error.json');
    bucket.grantPutParts(starter.role, 'runs/*/passes/*');
    // Left in no version: the run has its own copy, which only the worker reads.
    bucket.grantDelete(starter.role, 'datasets/*/private.json', 'runs/*/private.json');
    bucket.grantDelete(starter.role, 'runs/*/error.json');
    table.grantItems(starter.role, 'GetItem', 'BatchGetItem', 'Query');
    table.grantItems(starter.role, 'PutItem', 'UpdateItem', 'DeleteItem');
    table.grantIndexes(starter.role);
    queue.grantSend(starter.role);
    grantInvoke(starter.role, this, 'dispatcher', 'starter', 'merge');
  }
}
