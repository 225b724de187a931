import { z } from 'zod';
import { createPromptTable } from '../dataset/prompt-table.ts';
import { outcomeClass, stopsRun } from '../trajectory/outcome.ts';
import type { RunState } from './run-state.ts';

const count = z.int().min(0);

/** Where every prompt of every pass is. */
export const coverageSchema = z.object({
  planned: count,
  completed: count,
  partial: count,
  discarded: count,
  failed: count,
  /** Without an outcome, and its row has left the dataset. */
  withdrawn: count,
  /** Without an outcome: a resume runs it. */
  pending: count,
});
export type Coverage = z.infer<typeof coverageSchema>;

/** The books don't add up: something was lost or counted twice. */
export class CoverageError extends Error {
  override readonly name = 'CoverageError';
}

/** Takes the prompts of all passes and of the latest dataset, and counts where they are. */
export interface CoverageMeter {
  /** A prompt that a pass planned; repeats are fine. */
  planned(promptId: string): void;
  /** A prompt of the whole latest dataset, once the passes that planned it have been told. */
  inLatest(promptId: string): void;
  /**
   * Each planned prompt counted by its last attempt. An attempt that stopped the run (key or credit
   * refused) is no outcome: its prompt is pending. Throws `CoverageError` when the ledger knows a
   * prompt that no pass planned.
   */
  measure(): Coverage;
}

export function createCoverageMeter(state: RunState): CoverageMeter {
  const seen = createPromptTable();
  const counts = { open: 0, ended: 0, pending: 0 };
  return {
    planned(promptId) {
      if (seen.get(promptId) !== undefined) return;
      const outcome = state.outcome(promptId);
      const isOpen = outcome === undefined || stopsRun(outcome);
      counts[isOpen ? 'open' : 'ended'] += 1;
      seen.set(promptId, isOpen ? OPEN : COUNTED);
    },
    inLatest(promptId) {
      if (seen.get(promptId) !== OPEN) return;
      seen.set(promptId, COUNTED);
      counts.pending += 1;
    },
    measure() {
      const coverage = countEnded(state);
      const { completed, partial, discarded, failed } = coverage;
      const ended = completed + partial + discarded + failed;
      if (counts.ended !== ended) {
        throw new CoverageError(
          `coverage does not close: the ledger has ${ended} ended prompts, of which the passes planned ${counts.ended}`,
        );
      }
      const { open, pending } = counts;
      return { ...coverage, planned: open + ended, pending, withdrawn: open - pending };
    },
  };
}

/** What is noted of a planned prompt. */
const OPEN = 0;
const COUNTED = 1;

function countEnded(state: RunState): Coverage {
  const coverage: Coverage = {
    planned: 0,
    completed: 0,
    partial: 0,
    discarded: 0,
    failed: 0,
    withdrawn: 0,
    pending: 0,
  };
  for (const outcome of state.outcomes()) {
    if (!stopsRun(outcome)) coverage[outcomeClass(outcome)] += 1;
  }
  return coverage;
}

/** The equation as one line for people. */
export function coverageLine(of: Coverage): string {
  return `planned ${of.planned} = completed ${of.completed} + partial ${of.partial} + discarded ${of.discarded} + failed ${of.failed} + withdrawn ${of.withdrawn} + pending ${of.pending}`;
}
