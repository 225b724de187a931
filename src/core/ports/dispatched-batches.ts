import type { AttemptRecord } from '../cloud/attempt-record.ts';
import type { BatchRecord } from '../cloud/batch-record.ts';
import type { PromptEnd } from '../cloud/ended-without-task.ts';

export interface BatchId {
  run: string;
  batch: number;
}

export interface BatchClosing {
  ends: readonly PromptEnd[];
  /** Prompts that stay without an end. */
  unfinished: number;
}

/** Batches, as the dispatcher sees and moves them. Every change holds only for a batch as it was read. */
export interface DispatchedBatches {
  /** Those that exist, in no order. */
  read(ids: readonly BatchId[]): Promise<BatchRecord[]>;
  /** Open or unmerged ones whose `lease_until` is not after `now`, the oldest first, at most `limit`. */
  due(run: string, now: number, limit: number): Promise<BatchRecord[]>;
  /** Waiting ones that may be sent again, the longest due first, at most `limit`. */
  waiting(run: string, now: number, limit: number): Promise<BatchRecord[]>;
  /** Queued ones that were sent before `sentBefore`, the oldest first, at most `limit`. */
  queuedBefore(run: string, sentBefore: number, limit: number): Promise<BatchRecord[]>;
  /** Open ones, at most `limit`; with `beforePass`, of earlier passes alone. */
  open(run: string, limit: number, beforePass?: number): Promise<BatchRecord[]>;
  attempts(id: BatchId): Promise<AttemptRecord[]>;
  /** `queued`, or left behind without a launch, → `waiting`; false where it changed. */
  wait(batch: BatchRecord, until: number, unclaimed: number): Promise<boolean>;
  /** `waiting` or `queued` → `queued`; false where it changed. */
  queue(batch: BatchRecord, now: number): Promise<boolean>;
  /** Looks at an unmerged batch not again before `until`. */
  lookAgain(batch: BatchRecord, until: number): Promise<void>;
  /** Closes a batch that no task has, with attempts that nobody committed; false where it changed. */
  close(batch: BatchRecord, closing: BatchClosing, now: number): Promise<boolean>;
}
