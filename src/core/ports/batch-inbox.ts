import type { BatchMessage } from '../cloud/batch-record.ts';

export interface ReceivedMessage {
  /** Undefined for one that is none of ours. */
  message: BatchMessage | undefined;
  /** Names it towards the queue until it is received again. */
  handle: string;
}

/** The queue of batches that wait for a task. Messages may come twice, late, or never. */
export interface BatchInbox {
  /** At most ten; none does not mean that there are none. */
  receive(most: number, waitSeconds: number): Promise<ReceivedMessage[]>;
  remove(handle: string): Promise<void>;
  send(message: BatchMessage): Promise<void>;
}
