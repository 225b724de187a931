import type { PromptRecord } from '../cloud/attempt-record.ts';
import type { Outcome } from '../trajectory/outcome.ts';

/** What earlier passes of a run know of a prompt. */
export interface KnownOutcome {
  outcome: Outcome;
  /** Number of its last attempt. */
  attempt: number;
}

/** How a run's prompts ended so far. */
export interface PromptOutcomes {
  /** In the order of the prompts, at most 100; undefined for one without an end. */
  of(
    prompts: readonly { hash: string; occurrence: number }[],
  ): Promise<readonly (KnownOutcome | undefined)[]>;
  /** Notes a try of a prompt that has not ended; what is done, or was tried later, stays. */
  note(prompt: { hash: string; occurrence: number }, last: PromptRecord): Promise<void>;
}
