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
}
