import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_OBJECT_BYTES,
  MAX_PART_BYTES,
  MAX_PARTS,
  MIN_PART_BYTES,
  ObjectTooLargeError,
  type PlannedPart,
  planParts,
} from '../../../src/core/cloud/part-planner.ts';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

const sizeOf = (part: PlannedPart) => part.reduce((sum, { length }) => sum + length, 0);

/** All that holds of a plan, whatever the sizes. Counts faults: an expectation a range takes long. */
function expectSound(sizes: readonly number[]): void {
  const parts = planParts(sizes);
  expect(parts.length).toBeLessThanOrEqual(MAX_PARTS);
  expect(parts.slice(0, -1).filter((part) => sizeOf(part) < MIN_PART_BYTES)).toEqual([]);
  expect(parts.filter((part) => sizeOf(part) < 1 || sizeOf(part) > MAX_PART_BYTES)).toEqual([]);
  // Every byte once, in order: each range goes on where the one before it stopped.
  const reached = sizes.map(() => 0);
  let last = 0;
  const faulty = parts.flat().filter(({ source, start, length }) => {
    const isNext = source >= last && start === reached[source] && length > 0;
    last = source;
    reached[source] = start + length;
    return !isNext;
  });
  expect(faulty).toEqual([]);
  expect(reached).toEqual([...sizes]);
}

/** Sizes around every limit, in any mixture. */
const anySize = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 300_000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 4 * MIB, max: 40 * MIB }) },
  { weight: 1, arbitrary: fc.integer({ min: 40 * MIB, max: 30 * GIB }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      0,
      1,
      MIN_PART_BYTES - 1,
      MIN_PART_BYTES,
      MIN_PART_BYTES + 1,
      16 * MIB - 1,
      16 * MIB,
      MAX_PART_BYTES,
      MAX_PART_BYTES + 1,
    ),
  },
);

describe('planParts', () => {
  it('gives sound parts for any list of sizes', () => {
    fc.assert(
      fc.property(fc.array(anySize, { maxLength: 150 }), (sizes) => {
        expectSound(sizes);
      }),
      { numRuns: 400 },
    );
  });

  it('stays within 10,000 parts where small and large sources take turns, up to 5 TiB', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6_000 }),
        fc.integer({ min: 0, max: MIN_PART_BYTES * 2 }),
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        (pairs, small, share) => {
          const large = Math.floor((MAX_OBJECT_BYTES * share) / pairs) - small;
          if (large < 0) return;
          expectSound(Array.from({ length: pairs }, () => [small, large]).flat());
        },
      ),
      { numRuns: 20 },
    );
  });

  it('makes no part of nothing, and one of little', () => {
    expect(planParts([])).toEqual([]);
    expect(planParts([0, 0])).toEqual([]);
    expect(planParts([3, 0, 4])).toEqual([
      [
        { source: 0, start: 0, length: 3 },
        { source: 2, start: 0, length: 4 },
      ],
    ]);
  });

  it('lets S3 copy what is large, but for the head that fills up a small part', () => {
    expect(planParts([MIB, 20 * MIB, 2 * MIB])).toEqual([
      [
        { source: 0, start: 0, length: MIB },
        { source: 1, start: 0, length: 4 * MIB },
      ],
      [{ source: 1, start: 4 * MIB, length: 16 * MIB }],
      [{ source: 2, start: 0, length: 2 * MIB }],
    ]);
  });

  it('refuses more than one object can hold', () => {
    expect(() => planParts([MAX_OBJECT_BYTES, 1])).toThrow(ObjectTooLargeError);
    expectSound([MAX_OBJECT_BYTES]);
  });
});
