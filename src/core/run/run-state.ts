import { createPromptTable } from '../dataset/prompt-table.ts';
import { isDone, OUTCOMES, type Outcome } from '../trajectory/outcome.ts';
import type { Usage } from '../trajectory/trajectory.ts';
import { addUsage, NO_USAGE } from '../trajectory/usage.ts';
import type { LedgerEntry } from './ledger-entry.ts';

/** What the ledger says of each prompt: its last attempt. Grows by some 60 bytes a prompt. */
export interface RunState {
  add(entry: LedgerEntry): void;
  /** The outcome of the prompt's last attempt. */
  outcome(promptId: string): Outcome | undefined;
  /** The number of the prompt's last attempt; 0 before the first. */
  attempts(promptId: string): number;
  isDone(promptId: string): boolean;
  /** The last outcome of every prompt, in no order that matters. */
  outcomes(): IterableIterator<Outcome>;
  /** The highest batch number of any attempt; -1 before the first. */
  readonly highestBatch: number;
  /** Tokens and cost of all attempts. */
  readonly usage: Usage;
  readonly size: number;
}

export function createRunState(): RunState {
  // Attempt and outcome share one small integer: a run may have millions of prompts.
  const last = createPromptTable();
  const outcomeIndex = new Map<Outcome, number>(OUTCOMES.map((outcome, index) => [outcome, index]));

  let highestBatch = -1;
  let usage = NO_USAGE;

  function outcome(promptId: string): Outcome | undefined {
    const packed = last.get(promptId);
    return packed === undefined ? undefined : unpacked(packed);
  }

  function unpacked(packed: number): Outcome | undefined {
    return OUTCOMES[packed % OUTCOMES.length];
  }

  function attempts(promptId: string): number {
    return Math.floor((last.get(promptId) ?? 0) / OUTCOMES.length);
  }

  return {
    add(entry) {
      const { attempt } = entry.timing;
      highestBatch = Math.max(highestBatch, entry.batch);
      usage = addUsage(usage, entry.usage);
      if (attempt < attempts(entry.prompt_id)) return;
      const index = outcomeIndex.get(entry.outcome) ?? 0;
      last.set(entry.prompt_id, attempt * OUTCOMES.length + index);
    },
    outcome,
    attempts,
    isDone(promptId) {
      const of = outcome(promptId);
      return of !== undefined && isDone(of);
    },
    *outcomes() {
      for (const packed of last.values()) {
        const of = unpacked(packed);
        if (of !== undefined) yield of;
      }
    },
    get highestBatch() {
      return highestBatch;
    },
    get usage() {
      return usage;
    },
    get size() {
      return last.size;
    },
  };
}
