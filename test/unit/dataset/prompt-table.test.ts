import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPromptTable } from '../../../src/core/dataset/prompt-table.ts';

const hashOf = (seed: number) => createHash('sha256').update(String(seed)).digest('hex');

describe('createPromptTable', () => {
  it('says what a Map says, whatever the ids', () => {
    // Few hashes, which differ late or not at all, so that ids meet.
    const hash = fc.oneof(
      fc.nat(3).map(hashOf),
      fc.nat(3).map((last) => `${'0'.repeat(63)}${last}`),
      fc.constantFrom('A'.repeat(64), 'short', '__proto__', `${'0'.repeat(64)}0`),
    );
    const occurrence = fc.oneof(
      fc.nat(3),
      fc.constantFrom(999_999_999, 4_294_967_296, '00', '', '1 '),
    );
    const step = fc.record({ hash, occurrence, value: fc.maxSafeNat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const table = createPromptTable();
        const map = new Map<string, number>();
        for (const { hash, occurrence, value } of steps) {
          const promptId = `${hash}-${occurrence}`;
          expect(table.get(promptId)).toBe(map.get(promptId));
          table.set(promptId, value);
          map.set(promptId, value);
        }
        for (const [promptId, value] of map) expect(table.get(promptId)).toBe(value);
        expect(table.size).toBe(map.size);
        expect([...table.values()].sort()).toEqual([...map.values()].sort());
      }),
    );
  });

  it('keeps many apart, those of one hash too', () => {
    const table = createPromptTable();
    const ids = [
      ...Array.from({ length: 20_000 }, (_, index) => `${hashOf(index)}-0`),
      ...Array.from({ length: 10_000 }, (_, index) => `${hashOf(-1)}-${index}`),
    ];
    for (const [index, id] of ids.entries()) table.set(id, index);
    expect(table.size).toBe(ids.length);
    expect(ids.findIndex((id, index) => table.get(id) !== index)).toBe(-1);
    expect(table.get(`${hashOf(20_000)}-0`)).toBeUndefined();
    expect([...table.values()]).toEqual([...ids.keys()]);
  });
});
