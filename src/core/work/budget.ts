import type { Usage } from '../trajectory/trajectory.ts';
import { addUsage } from '../trajectory/usage.ts';

export interface BudgetLimits {
  maxCostUsd?: number | undefined;
  maxTotalTokens?: number | undefined;
}

/** What a run may spend, over all its passes and attempts, prompts in flight included. */
export interface Budget {
  add(usage: Usage): void;
  readonly spent: Usage;
  /** Why nothing further may start; undefined while there is budget left. */
  exhausted(): string | undefined;
}

export function createBudget(limits: BudgetLimits, before: Usage): Budget {
  let spent = before;
  return {
    add(usage) {
      spent = addUsage(spent, usage);
    },
    get spent() {
      return spent;
    },
    exhausted() {
      const { maxCostUsd, maxTotalTokens } = limits;
      if (maxTotalTokens !== undefined && spent.total_tokens >= maxTotalTokens) {
        return `max_total_tokens ${maxTotalTokens} is used up: ${spent.total_tokens} tokens so far`;
      }
      if (maxCostUsd === undefined) return undefined;
      if (spent.cost_usd === null) {
        return 'the endpoint reports no cost, so max_cost_usd cannot be held; max_total_tokens can';
      }
      return spent.cost_usd >= maxCostUsd
        ? `max_cost_usd ${maxCostUsd} is used up: $${spent.cost_usd.toFixed(4)} so far`
        : undefined;
    },
  };
}
