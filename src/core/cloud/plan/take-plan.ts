import type { Planner, RunRecord } from '../run-record.ts';
import type { ClaimDeps } from './claim-upload.ts';
import { createPlanHold, PLANNER_LEASE_MS, type PlanHold } from './plan-hold.ts';

/** Tries of one pass, after which it is given up. */
const MAX_TRIES = 3;

/** A pass whose planners died too often. */
export interface ExhaustedPlan {
  exhausted: PlanHold;
}

/**
 * Takes over a plan whose planner died or let go; with `owner`, the one that asked to go on.
 * Undefined where there is none, or somebody is at it.
 */
export async function takePlan(
  runName: string,
  deps: ClaimDeps,
  owner?: string,
): Promise<PlanHold | ExhaustedPlan | undefined> {
  const run = await deps.claims.read(runName);
  const planner = run?.planner ?? undefined;
  if (run === undefined || planner === undefined) return undefined;
  const now = deps.now();
  if (!isFree(run, planner, { now, owner })) return undefined;
  const next = {
    ...planner,
    owner: deps.newId(),
    lease_until: now + PLANNER_LEASE_MS,
    tries: owner === undefined ? planner.tries + 1 : planner.tries,
    claimed_at: planner.claimed_at || now,
    from_state: planner.from_state ?? stateBefore(planner),
  };
  if (!(await deps.claims.take(run, next))) return undefined;
  const hold = createPlanHold({ ...run, planner: next }, next, deps);
  return next.tries > MAX_TRIES ? { exhausted: hold } : hold;
}

function isFree(
  { state }: RunRecord,
  planner: Planner,
  { now, owner }: { now: number; owner: string | undefined },
): boolean {
  if (state !== 'planning' && state !== 'running') return false;
  return owner === undefined ? planner.lease_until <= now : planner.owner === owner;
}

/** Who has no time of a claim was begun by the merge of the pass before. */
function stateBefore({ claimed_at: claimedAt }: Planner): 'done' | null {
  return claimedAt === 0 ? 'done' : null;
}
