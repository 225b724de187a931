import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupParts } from '../../../src/core/cloud/parts-job.ts';

describe('groupParts', () => {
  it('gives all parts once, in order, in groups within the limits', () => {
    const limits = fc.record({
      parts: fc.integer({ min: 1, max: 5 }),
      ranges: fc.integer({ min: 1, max: 20 }),
      bytes: fc.integer({ min: 1, max: 100 }),
    });
    const rangeCounts = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 40 });
    fc.assert(
      fc.property(limits, rangeCounts, (limit, counts) => {
        const range = { key: 'k', start: 0, length: 7, rows: -1 };
        const parts = counts.map((count, index) => ({
          number: index + 1,
          ranges: Array.from({ length: count }, () => range),
        }));
        const groups = groupParts(parts, limit);
        expect(groups.flat()).toEqual(parts);
        for (const group of groups) {
          expect(group.length).toBeGreaterThan(0);
          expect(group.length).toBeLessThanOrEqual(limit.parts);
          const ranges = group.reduce((sum, part) => sum + part.ranges.length, 0);
          // A part that is above the limit alone is a group of its own.
          const isWithin = ranges <= limit.ranges && ranges * 7 <= limit.bytes;
          expect(isWithin || group.length === 1).toBe(true);
        }
      }),
    );
  });
});
