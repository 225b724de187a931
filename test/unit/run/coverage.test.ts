import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CoverageError, coverageLine, measureCoverage } from '../../../src/core/run/coverage.ts';
import { createRunState } from '../../../src/core/run/run-state.ts';
import { OUTCOMES, outcomeClass, stopsRun } from '../../../src/core/trajectory/outcome.ts';
import { each, entryOf } from './ledger-fixture.ts';

const idOf = (index: number) => entryOf(index, 'completed').prompt_id;
const ids = (indices: readonly number[]) => each(indices.map(idOf));

describe('measureCoverage', () => {
  it('closes for any ledger of planned prompts', async () => {
    const index = fc.integer({ min: 0, max: 12 });
    const attempts = fc.array(fc.tuple(index, fc.constantFrom(...OUTCOMES)), { maxLength: 40 });
    const rows = fc.array(index, { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(attempts, rows, rows, async (ledger, further, latest) => {
        const state = createRunState();
        const lastOf = new Map<number, (typeof OUTCOMES)[number]>();
        for (const [of, outcome] of ledger) {
          state.add(entryOf(of, outcome, state.attempts(idOf(of)) + 1));
          lastOf.set(of, outcome);
        }
        const planned = [...ledger.map(([of]) => of), ...further];
        const coverage = await measureCoverage(state, ids(planned), ids(latest));
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

  it('tells what a resume will run from what has left the dataset', async () => {
    const state = createRunState();
    state.add(entryOf(0, 'completed'));
    state.add(entryOf(1, 'failed/auth'));
    const coverage = await measureCoverage(state, ids([0, 1, 2, 3]), ids([1, 3]));
    expect(coverageLine(coverage)).toBe(
      'planned 4 = completed 1 + partial 0 + discarded 0 + failed 0 + withdrawn 1 + pending 2',
    );
  });

  it('does not close over a prompt that nobody planned', async () => {
    const state = createRunState();
    state.add(entryOf(5, 'completed'));
    await expect(measureCoverage(state, ids([1]), ids([1]))).rejects.toThrow(CoverageError);
  });
});
