import { dueMerge } from './merge-claim.ts';
import type { RunRecord } from './run-record.ts';

export type RunSweep =
  | 'resume_planning'
  | 'merge_run'
  | 'end_pausing'
  | 'close_open_batches'
  | 'nothing';

/** What a run needs that nobody is at. */
export function runSweep(run: RunRecord, now: number): RunSweep {
  switch (run.state) {
    case 'planning':
      return isPlanLeft(run, now) ? 'resume_planning' : 'nothing';
    case 'pausing':
      return run.active === 0 ? 'end_pausing' : 'nothing';
    case 'cancelling': {
      const isOpen = run.batches_merged < run.batches_total;
      return isOpen && run.active === 0 ? 'close_open_batches' : mergeSweep(run, now);
    }
    case 'running':
      // Messages of its last batches may not be sent yet.
      return isPlanLeft(run, now) ? 'resume_planning' : mergeSweep(run, now);
    case 'merging':
      return mergeSweep(run, now);
    default:
      return 'nothing';
  }
}

/** The starter counts the tries, and gives the plan up. */
function isPlanLeft({ planner }: RunRecord, now: number): boolean {
  return planner !== null && planner.lease_until <= now;
}

function mergeSweep(run: RunRecord, now: number): RunSweep {
  return dueMerge(run, now) === undefined ? 'nothing' : 'merge_run';
}
