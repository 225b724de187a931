import type { BatchRecord } from '../cloud/batch-record.ts';

/** The batches of a pass, as its planner puts them. */
export interface PlannedBatches {
  /**
   * Puts a batch where there is none of its number, or one that a plan of an earlier pass left, which
   * never came to run. False where this pass has put it already.
   */
  put(batch: BatchRecord): Promise<boolean>;
  /** Removes what plans of earlier passes left from `batch` on. */
  removeFrom(run: string, batch: number, pass: number): Promise<void>;
}
