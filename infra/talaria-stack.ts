import { CfnOutput, Fn, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { BatchQueue } from './constructs/batch-queue.ts';
import { Dispatcher } from './constructs/dispatcher.ts';
import { type FunctionSurroundings, nameOf } from './constructs/lambda-function.ts';
import { Merge } from './constructs/merge.ts';
import { ModelKeys } from './constructs/model-keys.ts';
import { RunBucket } from './constructs/run-bucket.ts';
import { RunTable } from './constructs/run-table.ts';
import { Starter } from './constructs/starter.ts';
import { TaskFleet } from './constructs/task-fleet.ts';
import { TaskImages } from './constructs/task-images.ts';
import { TaskNetwork } from './constructs/task-network.ts';
import type { Settings } from './settings.ts';

/** Everything that runs Talaria in one account and region. */
export class TalariaStack extends Stack {
  constructor(scope: Construct, id: string, props: StackProps & { settings: Settings }) {
    super(scope, id, props);
    const { settings } = props;
    const keep = settings.removalPolicy === 'retain';
    const { logRetentionDays, noncurrentDays } = settings;

    const bucket = new RunBucket(this, 'RunBucket', { keep, noncurrentDays });
    const table = new RunTable(this, 'RunTable', { keep });
    const queue = new BatchQueue(this, 'BatchQueue');
    const keys = new ModelKeys(this, 'ModelKeys', { keep });
    const network = new TaskNetwork(this, 'TaskNetwork', settings);
    const images = new TaskImages(this, 'TaskImages', settings);
    const fleet = new TaskFleet(this, 'TaskFleet', { bucket, table, keys, settings });

    const surroundings: FunctionSurroundings = {
      failedEvents: queue.failedEvents,
      logRetentionDays,
    };
    const shared = { bucket, table, queue, settings, surroundings };
    new Starter(this, 'Starter', shared);
    new Dispatcher(this, 'Dispatcher', { ...shared, keys, network, images, fleet });
    new Merge(this, 'Merge', shared);

    this.output('BucketName', bucket.name);
    this.output('TableName', table.name);
    this.output('QueueUrl', queue.queue.queueUrl);
    this.output('DeadLetterQueueUrl', queue.deadLetters.queueUrl);
    this.output('FailedEventsQueueUrl', queue.failedEvents.queueUrl);
    this.output('ClusterArn', fleet.clusterArn);
    this.output('TaskLogGroup', fleet.logGroupName);
    this.output('ModelKeysArn', keys.arn);
    this.output('StarterName', nameOf(this, 'starter'));
    this.output('DispatcherName', nameOf(this, 'dispatcher'));
    this.output('MergeName', nameOf(this, 'merge'));
  }

  /** By position, so that synthesis for a named account has to look nothing up. */
  override get availabilityZones(): string[] {
    return [0, 1].map((position) => Fn.select(position, Fn.getAzs()));
  }

  private output(id: string, value: string): void {
    new CfnOutput(this, id, { value });
  }
}
