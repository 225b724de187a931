import { describe, expect, it } from 'vitest';
import { addUsage, NO_USAGE } from '../../../src/core/trajectory/usage.ts';

const USAGE = {
  prompt_tokens: 1,
  completion_tokens: 20,
  total_tokens: 300,
  reasoning_tokens: 4000,
  cached_tokens: 50_000,
  cost_usd: 0.25,
};

describe('addUsage', () => {
  it('adds every field', () => {
    expect(addUsage(USAGE, { ...USAGE, cost_usd: 0.5 })).toEqual({
      prompt_tokens: 2,
      completion_tokens: 40,
      total_tokens: 600,
      reasoning_tokens: 8000,
      cached_tokens: 100_000,
      cost_usd: 0.75,
    });
  });

  it('adds nothing to nothing used', () => {
    expect(addUsage(NO_USAGE, USAGE)).toEqual(USAGE);
    expect(addUsage(USAGE, NO_USAGE)).toEqual(USAGE);
  });

  it('does not know a sum of which one part is not known', () => {
    const unknown = { ...USAGE, cost_usd: null };
    expect(addUsage(unknown, USAGE).cost_usd).toBeNull();
    expect(addUsage(USAGE, unknown).cost_usd).toBeNull();
    expect(addUsage(NO_USAGE, unknown)).toEqual(unknown);
  });
});
