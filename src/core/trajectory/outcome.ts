import { z } from 'zod';

/** Every way in which a prompt can end: one closed set for rows, ledger, statistics and metrics. */
export const OUTCOMES = [
  'completed',
  'partial/turns',
  'partial/tokens',
  'partial/time',
  'partial/context',
  'partial/budget',
  'partial/length',
  'discarded/no_reasoning',
  'discarded/invalid_tool',
  'failed/model_error',
  'failed/auth',
  'failed/credits',
  'failed/rate_limited',
  'failed/content_filter',
  'failed/sandbox_lost',
  'failed/image_unavailable',
  'failed/tool_crash',
  'failed/cancelled',
  'failed/internal',
] as const;

export const outcomeSchema = z.enum(OUTCOMES);
export type Outcome = z.infer<typeof outcomeSchema>;

export type OutcomeClass = 'completed' | 'partial' | 'discarded' | 'failed';

/** The part of an outcome before the slash. */
export function outcomeClass(outcome: Outcome): OutcomeClass {
  return outcome.split('/', 1)[0] as OutcomeClass;
}

/** Whether the row of this outcome belongs in `trajectories.jsonl`. */
export function isKept(outcome: Outcome): boolean {
  const of = outcomeClass(outcome);
  return of === 'completed' || of === 'partial';
}

/** Whether a prompt that ended so is never bought again. */
export function isDone(outcome: Outcome): boolean {
  return outcomeClass(outcome) !== 'failed';
}

const RETRIED: ReadonlySet<Outcome> = new Set<Outcome>([
  'failed/sandbox_lost',
  'failed/model_error',
  'failed/rate_limited',
  'failed/tool_crash',
  'failed/internal',
]);

/** Whether an attempt that ended so is tried again in the same pass, up to `max_attempts`. */
export function isRetried(outcome: Outcome): boolean {
  return RETRIED.has(outcome);
}

/**
 * Whether an attempt that ended so stops the whole run: every other prompt would meet the same
 * refusal. Such an attempt stands in the ledger, but its prompt stays pending.
 */
export function stopsRun(outcome: Outcome): boolean {
  return outcome === 'failed/auth' || outcome === 'failed/credits';
}
