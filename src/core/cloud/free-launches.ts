import type { RunRecord } from './run-record.ts';

/** How many more launches a run may have. */
export function freeOfRun(run: Pick<RunRecord, 'state' | 'num_workers' | 'active'>): number {
  return run.state === 'running' ? Math.max(0, run.num_workers - run.active) : 0;
}

/** How many more launches there may be: of the stack, and of all runs together. */
export function freeLaunches(
  fleet: { maxTasks: number; active: number },
  runs: readonly Pick<RunRecord, 'state' | 'num_workers' | 'active'>[],
): number {
  const ofRuns = runs.reduce((sum, run) => sum + freeOfRun(run), 0);
  return Math.max(0, Math.min(fleet.maxTasks - fleet.active, ofRuns));
}

/**
 * Shares `total` among runs in turn, one each round, none above its `free`. Gives how many each gets,
 * in the order of the runs; the turn begins at run `first`.
 */
export function shareInTurn(total: number, free: readonly number[], first = 0): number[] {
  const shares = free.map(() => 0);
  let left = total;
  for (let hasMore = true; hasMore && left > 0; ) {
    hasMore = false;
    for (let turn = 0; turn < free.length && left > 0; turn++) {
      const run = (first + turn) % free.length;
      const share = shares[run] ?? 0;
      if (share >= (free[run] ?? 0)) continue;
      shares[run] = share + 1;
      left--;
      hasMore = true;
    }
  }
  return shares;
}
