import { stopEvent } from '../../src/adapters/aws/ecs-task-view.ts';
import { dispatch } from '../../src/core/cloud/dispatch/dispatch.ts';
import type { DispatchDeps } from '../../src/core/cloud/dispatch/dispatch-deps.ts';

/** Work of one invocation; what is left is the next one's. */
const BUDGET_MS = 50_000;
/** What the last step may need. */
const LAST_STEP_MS = 10_000;

/**
 * Any event is a nudge; the end of a task is noted first, for whoever dispatches now. Resolves to
 * whether this invocation dispatched, or another one was at it.
 */
export async function dispatcher(
  event: unknown,
  deps: DispatchDeps,
  remainingMs: number,
): Promise<{ dispatched: 'done' | 'busy' }> {
  const ended = stopEvent(event);
  if (ended !== undefined) await deps.launches.stopped(ended.token, ended.stop);
  const budgetMs = Math.min(BUDGET_MS, remainingMs - LAST_STEP_MS);
  return { dispatched: await dispatch(deps, budgetMs) };
}
