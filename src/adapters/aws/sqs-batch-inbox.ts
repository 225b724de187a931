import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { type BatchMessage, batchMessageSchema } from '../../core/cloud/batch-record.ts';
import type { BatchInbox } from '../../core/ports/batch-inbox.ts';

const MOST_RECEIVED = 10;

/** The queue of batches that wait for a task. */
export function createSqsBatchInbox(client: SQSClient, QueueUrl: string): BatchInbox {
  return {
    async receive(most, waitSeconds) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl,
          MaxNumberOfMessages: Math.min(most, MOST_RECEIVED),
          WaitTimeSeconds: waitSeconds,
        }),
      );
      return Messages.map(({ Body = '', ReceiptHandle = '' }) => ({
        message: parse(Body),
        handle: ReceiptHandle,
      }));
    },
    async remove(ReceiptHandle) {
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    },
    async send(message) {
      await client.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(message) }));
    },
  };
}

function parse(body: string): BatchMessage | undefined {
  try {
    return batchMessageSchema.parse(JSON.parse(body));
  } catch {
    return undefined;
  }
}
