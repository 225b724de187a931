import type { BatchRecord } from '../cloud/batch-record.ts';
import type { LaunchEnd } from '../cloud/launch-end.ts';
import type { LaunchRecord, TaskStop } from '../cloud/launch-record.ts';

/** Why a claim did not go through. */
export type ClaimRefusal = 'batch' | 'run' | 'fleet';

/** Launches under way, and the numbers of them in run and stack, which always agree. */
export interface Launches {
  list(): Promise<LaunchRecord[]>;
  /**
   * Begins a launch, in one transaction: the batch leaves `queued` for `launching` under the next
   * launch number until `until`, run and stack count one more. Resolves to undefined, or to what
   * forbade it: the batch is not as it was read, the run is not `running` or has as many launches
   * as it may, the stack has as many as it may.
   */
  claim(
    launch: LaunchRecord,
    limits: { until: number; maxTasks: number },
  ): Promise<ClaimRefusal | undefined>;
  /** Notes the task of a launch, in its batch too; nothing where it has ended already. */
  started(launch: LaunchRecord, taskArn: string): Promise<void>;
  /** Notes how a task ended, for who settles the launch; false where there is none of that token. */
  stopped(token: string, stop: TaskStop): Promise<boolean>;
  /** Notes that a worker claimed the batch; stops in a row of the run begin anew. */
  claimed(launch: LaunchRecord): Promise<void>;
  /**
   * Ends a launch once, with both counters: `gone` where that was done already, `changed` where the
   * batch is not as it was read.
   */
  end(
    launch: LaunchRecord,
    end: LaunchEnd,
    read: BatchRecord | undefined,
  ): Promise<'ended' | 'gone' | 'changed'>;
}
