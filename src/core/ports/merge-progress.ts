import type { AttemptRecord } from '../cloud/attempt-record.ts';
import type { BatchRecord } from '../cloud/batch-record.ts';
import type { MergeFrom } from '../cloud/merge-claim.ts';
import type { RunRecord } from '../cloud/run-record.ts';

/** A run's merge that one invocation holds. */
export interface MergeClaim {
  runName: string;
  /** The state that the run was in before any merge of it began. */
  from: MergeFrom;
  /** Milliseconds since 1970; tells this claim from any later one. */
  leaseUntil: number;
}

/** What became of a run whose merge ended; `lost` where another one holds the merge by now. */
export type MergeEnd = 'done' | 'cancelled' | 'paused' | 'planning' | 'lost';

/** How far the merges of batches and runs are. Every write holds only in the state it expects. */
export interface MergeProgress {
  run(runName: string): Promise<RunRecord | undefined>;
  batch(runName: string, batch: number): Promise<BatchRecord | undefined>;
  /** Every attempt of the batch by position, then number. */
  attempts(runName: string, batch: number): Promise<AttemptRecord[]>;
  /** `closed → merged`, counted in the run; both once, however often it is called. */
  batchMerged(runName: string, batch: number): Promise<void>;
  /** Takes the merge of a run for this invocation; undefined where another is faster. */
  claim(
    run: RunRecord,
    from: MergeFrom,
    now: number,
    until: number,
  ): Promise<MergeClaim | undefined>;
  /**
   * `merging → done` where no dataset waits, else the next pass begins in the same write; a run that
   * was being cancelled is `cancelled`, a paused one stays so.
   */
  end(claim: MergeClaim, now: number): Promise<MergeEnd>;
  /** Gives up a merge that failed, so that another invocation may try. */
  release(claim: MergeClaim): Promise<void>;
}
