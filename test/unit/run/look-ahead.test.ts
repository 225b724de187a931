import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lookAhead } from '../../../src/core/run/look-ahead.ts';
import type { PlannedBatch } from '../../../src/core/run/plan-batches.ts';
import { each, listOf } from './ledger-fixture.ts';

/** Batches of these sizes, their prompts numbered through. */
function batchesOf(sizes: readonly number[]): PlannedBatch[] {
  let number = 0;
  return sizes.map((size) => ({
    image: '',
    prompts: Array.from({ length: size }, () => ({
      promptId: String(number++),
      promptIndex: 0,
      sample: 0,
      row: { prompt: '', image: '', cwd: '', source: '{}' },
    })),
  }));
}
const idsOf = (batches: readonly PlannedBatch[]) =>
  batches.flatMap(({ prompts }) => prompts.map(({ promptId }) => promptId));

describe('lookAhead', () => {
  it('gives the same batches, and tells of prompts in order and in time', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(8), async (given, count) => {
        const all = batchesOf(given);
        const told: string[] = [];
        const seen: PlannedBatch[] = [];
        for await (const batch of lookAhead(each(all), count, (of) => told.push(of.promptId))) {
          seen.push(batch);
          const due = Math.min(idsOf(all).length, idsOf(seen).length + count);
          expect(told.length).toBeGreaterThanOrEqual(due);
        }
        expect(seen).toEqual(all);
        expect(told).toEqual(idsOf(all));
      }),
    );
  });

  it('reads no further than it has to', async () => {
    let read = 0;
    async function* plan() {
      for (const batch of batchesOf([2, 2, 2, 2, 2])) {
        read += 1;
        yield batch;
      }
    }
    const ahead = lookAhead(plan(), 3, () => undefined);
    await ahead.next();
    expect(read).toBe(3);
    await ahead.return(undefined);
    expect(read).toBe(3);
  });

  it('hands on an error of the plan behind the batches before it', async () => {
    async function* plan() {
      yield* batchesOf([1, 1]);
      throw new Error('unreadable');
    }
    const seen: PlannedBatch[] = [];
    const reading = (async () => {
      for await (const batch of lookAhead(plan(), 9, () => undefined)) seen.push(batch);
    })();
    await expect(reading).rejects.toThrow('unreadable');
    expect(seen).toHaveLength(2);
    expect(await listOf(lookAhead(each([]), 9, () => undefined))).toEqual([]);
  });
});
