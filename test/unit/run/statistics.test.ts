import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCheckpoint } from '../../../src/core/run/checkpoint.ts';
import {
  addDuration,
  emptyHistogram,
  summarizeDurations,
} from '../../../src/core/run/histogram.ts';
import { createTally, tallyAttempt, tallyPrompt } from '../../../src/core/run/tally.ts';
import { entryOf } from './ledger-fixture.ts';

const USAGE = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  reasoning_tokens: 2,
  cached_tokens: 1,
  cost_usd: 0.5,
};

describe('the histogram of durations', () => {
  it('is right within 5 % at every quantile, and exact in count, mean and maximum', () => {
    const durations = fc.array(fc.double({ min: 0.002, max: 100_000, noNaN: true }), {
      minLength: 1,
      maxLength: 200,
    });
    fc.assert(
      fc.property(durations, (seconds) => {
        const histogram = emptyHistogram();
        for (const of of seconds) addDuration(histogram, of);
        const summary = summarizeDurations(histogram);
        const sorted = [...seconds].sort((a, b) => a - b);
        expect(summary.count).toBe(seconds.length);
        expect(summary.max).toBeCloseTo(sorted.at(-1) ?? 0, 2);
        expect(summary.mean).toBeCloseTo(seconds.reduce((a, b) => a + b, 0) / seconds.length, 2);
        for (const [name, share] of [
          ['p50', 0.5],
          ['p90', 0.9],
          ['p99', 0.99],
        ] as const) {
          const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
          // Half a millisecond is lost in rounding.
          expect(Math.abs(summary[name] - exact)).toBeLessThanOrEqual(0.05 * exact + 0.0006);
        }
      }),
    );
  });

  it('is all zeros where nothing was added', () => {
    const zeros = { count: 0, mean: 0, p50: 0, p90: 0, p99: 0, max: 0 };
    expect(summarizeDurations(emptyHistogram())).toEqual(zeros);
  });

  it('takes a duration of zero', () => {
    const histogram = emptyHistogram();
    addDuration(histogram, 0);
    expect(summarizeDurations(histogram)).toMatchObject({ count: 1, p50: 0, max: 0 });
  });
});

describe('the tally', () => {
  it('counts what every attempt costs, and each prompt once', () => {
    const tally = createTally();
    const tools = { terminal: [3, 2, 1] as [number, number, number] };
    const fields = { usage: USAGE, api_calls: 2, tools, toolsets: ['terminal'], model: 'm' };
    const failed = entryOf(0, 'failed/model_error', 1, fields);
    const completed = entryOf(0, 'completed', 2, fields);
    for (const entry of [failed, completed]) tallyAttempt(tally, entry);
    tallyPrompt(tally, completed);
    expect(tally).toMatchObject({ attempts: 2, apiCalls: 4, assistantTurns: 1 });
    expect(tally.usage).toMatchObject({ total_tokens: 30, cost_usd: 1 });
    expect(tally.outcomes).toMatchObject({ completed: 1, 'failed/model_error': 0 });
    expect(tally.tools['terminal']).toEqual({ count: 3, success: 2, failure: 1 });
    const once = { prompts: 1, completed: 1, kept: 1, failed: 0 };
    expect([tally.toolsets, tally.images, tally.models]).toEqual([
      { terminal: once },
      { '': once },
      { m: once },
    ]);
  });

  it('counts tools and reasoning of kept rows only', () => {
    const tally = createTally();
    const tools = { terminal: [3, 2, 1] as [number, number, number] };
    tallyPrompt(tally, entryOf(0, 'discarded/no_reasoning', 1, { tools }));
    tallyPrompt(tally, entryOf(1, 'failed/internal', 1, { tools }));
    expect(tally.tools['terminal']).toEqual({ count: 0, success: 0, failure: 0 });
    expect(tally.assistantTurns).toBe(0);
    expect(tally.outcomes).toMatchObject({ 'discarded/no_reasoning': 1, 'failed/internal': 1 });
  });

  it('counts no outcome for an attempt that stopped the run', () => {
    const tally = createTally();
    tallyPrompt(tally, entryOf(0, 'failed/credits'));
    expect(Object.values(tally.outcomes).every((count) => count === 0)).toBe(true);
  });

  it('makes the cost unknown once one part is', () => {
    const tally = createTally();
    tallyAttempt(tally, entryOf(0, 'completed', 1, { usage: { ...USAGE, cost_usd: null } }));
    tallyAttempt(tally, entryOf(1, 'completed', 1, { usage: USAGE }));
    expect(tally.usage).toMatchObject({ total_tokens: 30, cost_usd: null });
  });

  it('has groups of any name', () => {
    const tally = createTally();
    const names = ['toString', 'constructor', '__proto__'];
    for (const model of names) tallyPrompt(tally, entryOf(0, 'completed', 1, { model }));
    expect(Object.entries(tally.models)).toEqual(
      names.map((name) => [name, { prompts: 1, completed: 1, kept: 1, failed: 0 }]),
    );
  });
});

describe('the checkpoint', () => {
  it('has the rows all of whose samples are done', () => {
    const checkpoint = createCheckpoint('r', 4);
    for (const index of [1, 1, 3]) checkpoint.owe(index);
    expect(checkpoint.build('now')).toEqual({
      run_name: 'r',
      completed_prompts: [0, 2],
      batch_stats: {},
      last_updated: 'now',
    });
    checkpoint.settle(1);
    expect(checkpoint.build('now').completed_prompts).toEqual([0, 2]);
    checkpoint.settle(1);
    expect(checkpoint.build('now').completed_prompts).toEqual([0, 1, 2]);
  });

  it('counts what each batch did', () => {
    const checkpoint = createCheckpoint('r', 1);
    checkpoint.addAttempt(2, 'completed');
    checkpoint.addAttempt(2, 'discarded/no_reasoning');
    checkpoint.addAttempt(2, 'failed/internal');
    expect(checkpoint.build('now').batch_stats).toEqual({
      2: { processed: 2, skipped: 0, discarded_no_reasoning: 1 },
    });
  });
});
