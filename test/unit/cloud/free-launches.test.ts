import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freeLaunches, shareInTurn } from '../../../src/core/cloud/free-launches.ts';
import { launchToken } from '../../../src/core/cloud/launch-token.ts';
import { retryWaitMs } from '../../../src/core/cloud/retry-wait.ts';

const run = (active: number, state: 'running' | 'pausing' = 'running') => ({
  state,
  num_workers: 4,
  active,
});

describe('free launches', () => {
  it.each([
    ['of the stack', 5, [run(0), run(0)], 3, 2],
    ['of the runs', 100, [run(1), run(4)], 5, 3],
    ['without runs that stop', 100, [run(0, 'pausing'), run(3)], 3, 1],
    ['never below none', 2, [run(9)], 5, 0],
  ])('%s', (_, maxTasks, runs, active, free) => {
    expect(freeLaunches({ maxTasks, active }, runs)).toBe(free);
  });

  it('shares in turn: nobody gets two more than another who could have had one', () => {
    const counts = fc.array(fc.nat(20), { maxLength: 8 });
    fc.assert(
      fc.property(fc.nat(60), counts, fc.nat(7), (total, free, first) => {
        const shares = shareInTurn(total, free, first);
        const sum = (of: number[]) => of.reduce((all, one) => all + one, 0);
        expect(sum(shares)).toBe(Math.min(total, sum(free)));
        const mayHaveMore = shares.filter((share, at) => share < (free[at] ?? 0));
        expect(shares.every((share, at) => share <= (free[at] ?? 0))).toBe(true);
        expect(Math.max(0, ...shares)).toBeLessThanOrEqual(Math.min(60, ...mayHaveMore) + 1);
      }),
    );
  });
});

it('names launches so that no two share a name', () => {
  const name = (of: string) => of;
  const tokens = [
    { run: 'a', batch: 1, launch: 11 },
    { run: 'a', batch: 11, launch: 1 },
    { run: 'a1', batch: 1, launch: 1 },
  ].map((of) => launchToken(name, of));
  expect(new Set(tokens).size).toBe(3);
});

it('waits longer after each try, at most a quarter of an hour', () => {
  expect([1, 2, 3, 8, 1_000].map(retryWaitMs)).toEqual([10_000, 20_000, 40_000, 900_000, 900_000]);
});
