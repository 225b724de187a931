import type { PassClaims } from '../../ports/pass-claims.ts';
import type { Planner, RunRecord } from '../run-record.ts';

/** How long a planner has its run after each renewal. */
export const PLANNER_LEASE_MS = 120_000;
const RENEW_MS = 30_000;
/** Kept for what is under way, and for the call that goes on. */
const MARGIN_MS = 60_000;

/** Another planner has the run by now, or it was cancelled: whatever is left is not ours to do. */
export class PlanLostError extends Error {
  override readonly name = 'PlanLostError';
}

/** The invocation's time runs out: another one goes on. */
export class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}

/** The dataset was not read to its end: another invocation begins anew, with all of its time. */
export class DatasetTimeError extends Error {
  override readonly name = 'DatasetTimeError';
}

export interface PlanHoldDeps {
  claims: PassClaims;
  now(): number;
  /** Of this invocation. */
  remainingMs(): number;
}

/** A run that is this planner's, for as long as it keeps touching it. */
export interface PlanHold {
  readonly run: RunRecord;
  readonly planner: Planner;
  /**
   * Renews the lease where it is time to. `progress` is called right before and says how many batches
   * are there by then. Throws `PlanLostError` and `OutOfTimeError`.
   */
  touch(progress?: () => Promise<number>): Promise<void>;
  /** Writes what changed of the planner. Throws `PlanLostError`. */
  save(change: Partial<Planner>): Promise<void>;
  /** Takes over what was written of run and planner. */
  became(run: RunRecord, planner: Planner): void;
}

export function createPlanHold(read: RunRecord, planner: Planner, deps: PlanHoldDeps): PlanHold {
  const { claims, now, remainingMs } = deps;
  let run = read;
  let current = planner;
  let renewed = now();

  async function save(change: Partial<Planner>): Promise<void> {
    current = { ...current, ...change };
    if (!(await claims.renew(run.run_name, current))) {
      throw new PlanLostError(`${run.run_name}: another planner has pass ${run.pass} by now`);
    }
    renewed = now();
  }

  return {
    get run() {
      return run;
    },
    get planner() {
      return current;
    },
    save,
    became(newRun, newPlanner) {
      run = newRun;
      current = newPlanner;
    },
    async touch(progress) {
      const isLate = remainingMs() < MARGIN_MS;
      if (!isLate && now() - renewed < RENEW_MS) return;
      const put = progress === undefined ? {} : { batches_put: await progress() };
      await save({ ...put, lease_until: now() + PLANNER_LEASE_MS });
      if (isLate)
        throw new OutOfTimeError(`${run.run_name}: the plan goes on in another invocation`);
    },
  };
}
