import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PlannedPrompt, planBatches, promptsOf } from '../../../src/core/run/plan-batches.ts';
import { each, listOf, sha256Hex } from './ledger-fixture.ts';

interface Given {
  prompt: string;
  image: string;
}
const rowsOf = (given: readonly Given[]) =>
  each(given.map((of, index) => ({ index, row: { ...of, cwd: '', source: '{}' } })));
const givenRows = fc.array(
  fc.record({ prompt: fc.constantFrom('a', 'b', 'c'), image: fc.constantFrom('', 'x', 'y') }),
  { maxLength: 40 },
);

describe('promptsOf', () => {
  it('gives equal rows different ids, each row as many as it has samples', async () => {
    const rows = rowsOf(['a', 'b', 'a'].map((prompt) => ({ prompt, image: '' })));
    const prompts = await listOf(promptsOf(rows, { samplesPerPrompt: 2, sha256Hex }));
    const hash = (prompt: string) => sha256Hex(JSON.stringify([prompt, '', '']));
    expect(prompts.map((of) => [of.promptId, of.promptIndex, of.sample])).toEqual([
      [`${hash('a')}-0`, 0, 0],
      [`${hash('a')}-1`, 0, 1],
      [`${hash('b')}-0`, 1, 0],
      [`${hash('b')}-1`, 1, 1],
      [`${hash('a')}-2`, 2, 0],
      [`${hash('a')}-3`, 2, 1],
    ]);
  });

  it('stops at max_samples rows, however many samples each has', async () => {
    const rows = rowsOf(['a', 'b', 'c'].map((prompt) => ({ prompt, image: '' })));
    const options = { samplesPerPrompt: 3, maxSamples: 2, sha256Hex };
    expect((await listOf(promptsOf(rows, options))).map((of) => of.promptIndex)).toEqual([
      0, 0, 0, 1, 1, 1,
    ]);
  });

  it('never gives an id twice, and one that does not depend on other rows', async () => {
    await fc.assert(
      fc.asyncProperty(givenRows, fc.integer({ min: 1, max: 4 }), async (given, samples) => {
        const options = { samplesPerPrompt: samples, sha256Hex };
        const ids = (await listOf(promptsOf(rowsOf(given), options))).map((of) => of.promptId);
        expect(new Set(ids).size).toBe(given.length * samples);
        const more = [...given, { prompt: 'another', image: '' }];
        const withMore = (await listOf(promptsOf(rowsOf(more), options))).map((of) => of.promptId);
        expect(withMore.slice(0, ids.length)).toEqual(ids);
      }),
    );
  });
});

describe('planBatches', () => {
  it('puts every prompt that is not done into one batch: of one image, in order, none too large', async () => {
    const sizes = fc.integer({ min: 1, max: 7 });
    await fc.assert(
      fc.asyncProperty(givenRows, sizes, fc.func(fc.boolean()), async (given, size, isDone) => {
        const prompts = await listOf(promptsOf(rowsOf(given), { samplesPerPrompt: 1, sha256Hex }));
        const batches = await listOf(planBatches(each(prompts), size, isDone));
        const planned = batches.flatMap((batch) => batch.prompts);
        const owed = prompts.filter((of) => !isDone(of.promptId));
        const ids = (list: readonly PlannedPrompt[]) => list.map((of) => of.promptId).sort();
        expect(ids(planned)).toEqual(ids(owed));
        for (const { image, prompts: inside } of batches) {
          expect(inside.length).toBeGreaterThan(0);
          expect(inside.length).toBeLessThanOrEqual(size);
          expect(inside.every((of) => of.row.image === image)).toBe(true);
          const indices = inside.map((of) => of.promptIndex);
          expect(indices).toEqual([...indices].sort((a, b) => a - b));
        }
        // At most one batch of an image is not full.
        const open = batches.filter((of) => of.prompts.length < size).map((of) => of.image);
        expect(new Set(open).size).toBe(open.length);
      }),
    );
  });

  it('gives a batch out as soon as it is full', async () => {
    let read = 0;
    async function* prompts() {
      for await (const of of promptsOf(rowsOf(Array(10).fill({ prompt: 'a', image: '' })), {
        samplesPerPrompt: 1,
        sha256Hex,
      })) {
        read += 1;
        yield of;
      }
    }
    await planBatches(prompts(), 3, () => false).next();
    expect(read).toBe(3);
  });
});
