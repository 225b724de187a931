import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CoverageError,
  coverageLine,
  createCoverageMeter,
} from '../../../src/core/run/coverage.ts';
import { createRunState, type RunState } from '../../../src/core/run/run-state.ts';
import { OUTCOMES, outcomeClass, stopsRun } from '../../../src/core/trajectory/outcome.ts';
import { entryOf } from './ledger-fixture.ts';

const idOf = (index: number) => entryOf(index, 'completed').prompt_id;

function measure(state: RunState, planned: readonly number[], latest: readonly number[]) {
  const meter = createCoverageMeter(state);
  for (const index of planned) meter.planned(idOf(index));
  for (const index of latest) meter.inLatest(idOf(index));
  return meter.measure();
}

describe('the coverage meter', () => {
  it('closes for any ledger of planned prompts', () => {
    const index = fc.integer({ min: 0, max: 12 });
    const attempts = fc.array(fc.tuple(index, fc.constantFrom(...OUTCOMES)), { maxLength: 40 });
    const rows = fc.array(index, { maxLength: 20 });
    fc.assert(
      fc.property(attempts, rows, rows, (ledger, further, latest) => {
        const state = createRunState();
        const lastOf = new Map<number, (typeof OUTCOMES)[number]>();
        for (const [of, outcome] of ledger) {
          state.add(entryOf(of, outcome, state.attempts(idOf(of)) + 1));
          lastOf.set(of, outcome);
        }
        const planned = [...ledger.map(([of]) => of), ...further];
        const coverage = measure(state, planned, latest);
        const { planned: whole, ...parts } = coverage;
        expect(whole).toBe(new Set(planned).size);
        expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBe(whole);
        // Each counted by its last attempt, key and credit refusals by none.
        const ended = [...lastOf.values()].filter((outcome) => !stopsRun(outcome));
        for (const of of ['completed', 'partial', 'discarded', 'failed'] as const) {
          expect(parts[of]).toBe(ended.filter((outcome) => outcomeClass(outcome) === of).length);
        }
      }),
    );
  });

  it('tells what a resume will run from what has left the dataset', () => {
    const state = createRunState();
    state.add(entryOf(0, 'completed'));
    state.add(entryOf(1, 'failed/auth'));
    const coverage = measure(state, [0, 1, 2, 3], [1, 3]);
    expect(coverageLine(coverage)).toBe(
      'planned 4 = completed 1 + partial 0 + discarded 0 + failed 0 + withdrawn 1 + pending 2',
    );
  });

  it('does not close over a prompt that nobody planned', () => {
    const state = createRunState();
    state.add(entryOf(5, 'completed'));
    expect(() => measure(state, [1], [1])).toThrow(CoverageError);
  });
});
