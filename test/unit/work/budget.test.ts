import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/core/trajectory/usage.ts';
import { createBudget } from '../../../src/core/work/budget.ts';
import { createRunStop } from '../../../src/core/work/run-stop.ts';

const used = (tokens: number, cost: number | null) => ({
  ...NO_USAGE,
  total_tokens: tokens,
  cost_usd: cost,
});

describe('createBudget', () => {
  it('is used up as soon as a limit is reached, what came before included', () => {
    const budget = createBudget({ maxTotalTokens: 100, maxCostUsd: 1 }, used(60, 0.5));
    expect(budget.exhausted()).toBeUndefined();
    budget.add(used(39, 0.4));
    expect(budget.exhausted()).toBeUndefined();
    budget.add(used(1, 0));
    expect(budget.exhausted()).toContain('max_total_tokens 100 is used up: 100 tokens');
  });

  it('holds a cost limit', () => {
    const budget = createBudget({ maxCostUsd: 1 }, NO_USAGE);
    budget.add(used(1, 1));
    expect(budget.exhausted()).toContain('max_cost_usd 1 is used up: $1.0000');
  });

  it('does not go on where a cost limit can’t be held', () => {
    const budget = createBudget({ maxCostUsd: 1 }, NO_USAGE);
    budget.add(used(1, null));
    expect(budget.exhausted()).toContain('reports no cost');
  });

  it('never ends without limits', () => {
    expect(createBudget({}, used(10 ** 12, null)).exhausted()).toBeUndefined();
  });
});

describe('createRunStop', () => {
  it('keeps the first reason and aborts once', () => {
    const stop = createRunStop();
    expect([stop.reason, stop.handBack.aborted]).toEqual([undefined, false]);
    stop.fail(new Error('disk full'));
    stop.request({ kind: 'interrupted' });
    expect(stop.reason).toEqual({ kind: 'storage', reason: 'disk full' });
    expect(stop.handBack.aborted).toBe(true);
  });
});
