import { dueMerge } from './merge-claim.ts';
import type { RunRecord } from './run-record.ts';

/** Times that a plan may die, after which its run fails. */
const MOST_PLANNER_TRIES = 3;

export type RunSweep =
  | 'resume_planning'
  | 'fail_planning'
  | 'merge_run'
  | 'end_pausing'
  | 'close_open_batches'
  | 'nothing';

/** What a run needs that nobody is at. */
export function runSweep(run: RunRecord, now: number): RunSweep {
  switch (run.state) {
    case 'planning':
      return planningSweep(run, now);
    case 'pausing':
      return run.active === 0 ? 'end_pausing' : 'nothing';
    case 'cancelling': {
      const isOpen = run.batches_merged < run.batches_total;
      return isOpen && run.active === 0 ? 'close_open_batches' : mergeSweep(run, now);
    }
    case 'running':
    case 'merging':
      return mergeSweep(run, now);
    default:
      return 'nothing';
  }
}

function planningSweep({ planner }: RunRecord, now: number): RunSweep {
  if (planner !== null && planner.lease_until > now) return 'nothing';
  return (planner?.tries ?? 0) >= MOST_PLANNER_TRIES ? 'fail_planning' : 'resume_planning';
}

function mergeSweep(run: RunRecord, now: number): RunSweep {
  return dueMerge(run, now) === undefined ? 'nothing' : 'merge_run';
}
