import type { Outcome } from './outcome.ts';
import { isKept } from './outcome.ts';
import type { Turn } from './trajectory.ts';

export interface Verdict {
  outcome: Outcome;
  reason: string;
}

/**
 * Whether a conversation that ended as `verdict` is fit for training: one in which no assistant
 * turn shows reasoning is discarded, unless the run keeps those. What failed stays failed.
 */
export function judge(verdict: Verdict, turns: readonly Turn[], keepWithoutReasoning: boolean) {
  if (!isKept(verdict.outcome) || keepWithoutReasoning) return verdict;
  const reasoned = turns.some((turn) => turn.from === 'gpt' && turn.reasoning.trim() !== '');
  if (reasoned) return verdict;
  return {
    outcome: 'discarded/no_reasoning' as const,
    reason: 'no assistant turn has any reasoning',
  };
}
