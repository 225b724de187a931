import type { AttemptRecord, PromptRecord } from '../cloud/attempt-record.ts';
import type { BatchRecord } from '../cloud/batch-record.ts';
import type { CloudRunState } from '../cloud/run-record.ts';

/** Another launch has the batch, or somebody closed it: nothing of this one may be written any more. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

export interface RecordedAttempt {
  attempt: AttemptRecord;
  /** The prompt's end, where this attempt is the last. */
  ended: PromptRecord | undefined;
  /** Whose prompt it is. */
  prompt: { hash: string; occurrence: number };
}

/**
 * One launch's work on one batch. Writes are made one after another, and each holds only while the
 * launch has the batch: else, and after the first that did not, they throw `LeaseLostError`.
 */
export interface BatchWork {
  batch(): Promise<BatchRecord>;
  /** Every attempt of the batch by position, then number. */
  attempts(): Promise<AttemptRecord[]>;
  /** `launching → running`; the lease begins. */
  claim(): Promise<void>;
  /** Lengthens the lease; resolves to the state of the run. */
  renew(): Promise<{ run: CloudRunState }>;
  /** Model work on these prompts begins (or did not): how many starts each has without an end. */
  setStarts(starts: ReadonlyMap<number, number>): Promise<void>;
  /**
   * Commits an attempt; its row is durable. The batch's last end also closes the batch. Again with
   * the same, it changes nothing.
   */
  record(recorded: RecordedAttempt): Promise<void>;
  /** `running → waiting`: another launch goes on, not before `notBefore` (wall time). Starts as above. */
  handBack(of: { starts: ReadonlyMap<number, number>; notBefore: number }): Promise<void>;
  /** Stops the run, unless it is stopping already; the reason is shown to people. */
  pauseRun(reason: string): Promise<void>;
}
