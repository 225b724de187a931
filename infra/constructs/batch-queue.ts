import { Duration } from 'aws-cdk-lib';
import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { accept } from '../nag.ts';

/** As long as SQS keeps anything. */
const RETENTION = Duration.days(14);
const MAX_RECEIVE_COUNT = 20;
/** Longer than a dispatcher needs from a message's receipt to its end. */
const VISIBILITY = Duration.minutes(6);

/** One message for each batch that waits for a task, and where messages go that can't be handled. */
export class BatchQueue extends Construct {
  readonly queue: Queue;
  /** Messages received too often. */
  readonly deadLetters: Queue;
  /** Events that a function failed on to the last try. */
  readonly failedEvents: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.deadLetters = safeQueue(this, 'DeadLetters');
    this.failedEvents = safeQueue(this, 'FailedEvents');
    accept(this.failedEvents, 'SQS3', 'Is where failed events end: nothing receives from it.');
    this.queue = safeQueue(this, 'Queue', {
      visibilityTimeout: VISIBILITY,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVE_COUNT },
    });
  }

  grantSend(role: IRole): void {
    this.grant(role, 'sqs:SendMessage');
  }

  grantReceive(role: IRole): void {
    this.grant(role, 'sqs:ReceiveMessage', 'sqs:DeleteMessage');
  }

  private grant(role: IRole, ...actions: string[]): void {
    role.addToPrincipalPolicy(new PolicyStatement({ actions, resources: [this.queue.queueArn] }));
  }
}

function safeQueue(
  scope: Construct,
  id: string,
  more: Partial<ConstructorParameters<typeof Queue>[2]> = {},
): Queue {
  return new Queue(scope, id, {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: RETENTION,
    ...more,
  });
}
