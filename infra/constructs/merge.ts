import { Duration } from 'aws-cdk-lib';
import { FilterCriteria, FilterRule, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Construct } from 'constructs';
import type { MergeEnv } from '../../functions/merge/env.ts';
import { accept } from '../nag.ts';
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

/** Writes the files of batches as they close, and of runs as their last batch is merged. */
export class Merge extends Construct {
  constructor(
    scope: Construct,
    id: string,
    props: {
      bucket: RunBucket;
      table: RunTable;
      queue: BatchQueue;
      surroundings: FunctionSurroundings;
    },
  ) {
    super(scope, id);
    const { bucket, table, queue } = props;
    const merge = new LambdaFunction(this, 'Merge', {
      ...props.surroundings,
      name: 'merge',
      description: 'Writes the files of closed batches and of ended runs',
      memorySize: 2048,
      timeout: Duration.minutes(15),
      maxEventAge: Duration.hours(6),
      environment: {
        TABLE_NAME: table.name,
        BUCKET_NAME: bucket.name,
        MERGE_NAME: nameOf(this, 'merge'),
        STARTER_NAME: nameOf(this, 'starter'),
      } satisfies EnvironmentFor<MergeEnv>,
    });
    merge.function.addEventSource(
      new DynamoEventSource(table.table, {
        startingPosition: StartingPosition.TRIM_HORIZON,
        filters: [CLOSED_BATCH],
        batchSize: 10,
        parallelizationFactor: 10,
        bisectBatchOnError: true,
        reportBatchItemFailures: true,
        retryAttempts: 5,
        maxRecordAge: Duration.hours(2),
        onFailure: new SqsDlq(queue.failedEvents),
      }),
    );
    accept(merge.role, 'IAM5[Resource::*]', 'dynamodb:ListStreams knows no resources.');
    bucket.grantList(merge.role);
    bucket.grantRead(merge.role, 'runs/*');
    bucket.grantPutParts(merge.role, 'runs/*');
    bucket.denyPrivate(merge.role);
    table.grantItems(merge.role, 'GetItem', 'Query', 'UpdateItem');
    // The starter: for the pass that begins where a run's merge ends.
    grantInvoke(merge.role, this, 'merge', 'starter');
  }
}

const CLOSED_BATCH = FilterCriteria.filter({
  dynamodb: {
    NewImage: {
      sk: { S: FilterRule.isEqual('BATCH') },
      state: { S: FilterRule.isEqual('closed') },
    },
  },
});
