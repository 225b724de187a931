import { isRetried, type Outcome, stopsRun } from '../trajectory/outcome.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { BatchRecord, PromptReference } from './batch-record.ts';

/** Starts of a prompt without an end, after which it is not started again. */
export const MAX_STARTS = 3;

/** Where one prompt of a batch stands. */
export interface PromptProgress {
  position: number;
  reference: PromptReference;
  /** Number of its next attempt: over all passes, from 1. */
  nextAttempt: number;
  /** Attempts in this pass that count against `max_attempts`. */
  counted: number;
  hasEnded: boolean;
  /** Started model work without an end. */
  starts: number;
}

/** Whether an attempt with this outcome is its prompt's last, after `counted` that count. */
export function isFinalAttempt(outcome: Outcome, counted: number, maxAttempts: number): boolean {
  if (stopsRun(outcome)) return false;
  return !isRetried(outcome) || counted + 1 >= maxAttempts;
}

/** Every prompt of a batch by position; `attempts` are those of the batch, in any order. */
export function promptProgress(
  batch: Pick<BatchRecord, 'prompts' | 'starts'>,
  attempts: readonly AttemptRecord[],
  maxAttempts: number,
): PromptProgress[] {
  return batch.prompts.map((reference, position) => {
    const own = attempts
      .filter((attempt) => attempt.position === position)
      .sort((a, b) => a.entry.timing.attempt - b.entry.timing.attempt);
    let counted = 0;
    let hasEnded = false;
    for (const { entry, is_final: isFinal } of own) {
      hasEnded ||= isFinal ?? isFinalAttempt(entry.outcome, counted, maxAttempts);
      if (!stopsRun(entry.outcome)) counted += 1;
    }
    const last = own.at(-1)?.entry.timing.attempt ?? reference.attempts_before;
    const starts = batch.starts[position] ?? 0;
    return { position, reference, nextAttempt: last + 1, counted, hasEnded, starts };
  });
}

/**
 * What a launch does: prompts to run, in order, and those that ended their worker too often. After a
 * launch that died, those that were never started come first: what killed it is found last.
 */
export function workOf(
  progress: readonly PromptProgress[],
  isCareful: boolean,
): { run: PromptProgress[]; giveUp: PromptProgress[] } {
  const owed = progress.filter(({ hasEnded }) => !hasEnded);
  const run = owed.filter(({ starts }) => starts < MAX_STARTS);
  if (isCareful) run.sort((a, b) => a.starts - b.starts);
  return { run, giveUp: owed.filter(({ starts }) => starts >= MAX_STARTS) };
}
