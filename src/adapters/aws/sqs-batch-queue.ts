import { setTimeout as delay } from 'node:timers/promises';
import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { BatchMessage } from '../../core/cloud/batch-record.ts';
import { messageGroups, messageText } from '../../core/cloud/message-groups.ts';
import type { BatchQueue } from '../../core/ports/batch-queue.ts';
import { atOnce } from './at-once.ts';

const CALLS_AT_ONCE = 8;
const FIRST_WAIT_MS = 50;
const TRIES = 5;

interface Outgoing {
  message: BatchMessage;
  text: string;
}

/** Messages of batches in SQS. */
export function createSqsBatchQueue(client: SQSClient, queueUrl: string): BatchQueue {
  /** Resolves to those that were not taken. */
  async function sendGroup(group: readonly Outgoing[]): Promise<Outgoing[]> {
    const { Failed = [] } = await client.send(
      new SendMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: group.map(({ text }, at) => ({ Id: String(at), MessageBody: text })),
      }),
    );
    const failed = new Set(Failed.map(({ Id }) => Id));
    return group.filter((_, at) => failed.has(String(at)));
  }

  /** Only what failed is sent again. */
  async function sendAll(group: readonly Outgoing[]): Promise<Outgoing[]> {
    let rest = [...group];
    for (let tried = 1; rest.length > 0 && tried <= TRIES; tried += 1) {
      if (tried > 1) await delay(FIRST_WAIT_MS * 2 ** tried);
      rest = await sendGroup(rest);
    }
    return rest;
  }

  return {
    async send(messages) {
      const outgoing = messages.map((message) => ({ message, text: messageText(message) }));
      const refused = await atOnce(messageGroups(outgoing), CALLS_AT_ONCE, sendAll);
      return refused.flat().map(({ message }) => message);
    },
  };
}
