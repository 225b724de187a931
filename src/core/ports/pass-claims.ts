import type { CloudRunState, Planner, RunRecord, Upload } from '../cloud/run-record.ts';

/** What a planned pass leaves in its run. */
export interface StartedRun {
  batchesTotal: number;
  numWorkers: number;
  maxAttempts: number;
  model: string;
  /** "" where the run names none. */
  defaultImage: string;
}

/**
 * Who plans which pass of a run: each change is one conditional write and resolves to whether it was
 * made. `read` is the run as it was read: the write holds only while nothing that matters changed.
 */
export interface PassClaims {
  read(run: string): Promise<RunRecord | undefined>;
  /** A run's first pass; false where there is a run. */
  begin(run: RunRecord): Promise<boolean>;
  /** A further pass. */
  claim(read: RunRecord, upload: Upload, planner: Planner, now: number): Promise<boolean>;
  /** Keeps an upload for when the run has ended. */
  keep(read: RunRecord, upload: Upload, now: number): Promise<boolean>;
  /** Takes the plan over from the planner that was read. */
  take(read: RunRecord, planner: Planner): Promise<boolean>;
  /** Replaces the planner while it has the same owner. */
  renew(run: string, planner: Planner): Promise<boolean>;
  /** `planning → running`, by the planner: from now on its batches may be launched. */
  start(run: string, planner: Planner, of: StartedRun, now: number): Promise<boolean>;
  /** The planner has nothing more to do. */
  finish(run: string, planner: Planner): Promise<boolean>;
  /** Ends a pass that can't be. A dataset that waits is the next pass in the same write. */
  refuse(
    read: RunRecord,
    planner: Planner,
    to: { state: CloudRunState; reason: string | undefined; now: number },
  ): Promise<boolean>;
}
