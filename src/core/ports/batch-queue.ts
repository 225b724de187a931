import type { BatchMessage } from '../cloud/batch-record.ts';

/** Where it is said that batches wait for a task. */
export interface BatchQueue {
  /** Sends each once or, where an answer was lost, twice. Resolves to those that were refused. */
  send(messages: readonly BatchMessage[]): Promise<BatchMessage[]>;
}
