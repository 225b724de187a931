import fc from 'fast-check';
import { expect, it } from 'vitest';
import { WINDOW_BYTES, WINDOW_OBJECTS, windowsOf } from '../../../src/adapters/aws/read-ahead.ts';

it('reads every source once, in order, in windows of bounded memory', () => {
  const size = fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 0, max: 1_000_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: WINDOW_BYTES * 2 }) },
  );
  fc.assert(
    fc.property(fc.array(size, { maxLength: 1_000, size: 'max' }), (sizes) => {
      const sources = sizes.map((of, index) => ({ key: String(index), size: of }));
      const windows = windowsOf(sources);
      expect(windows.flat()).toEqual(sources);
      for (const window of windows) {
        const bytes = window.reduce((sum, of) => sum + of.size, 0);
        // One that is too large alone comes as a stream.
        expect(bytes <= WINDOW_BYTES || window.length === 1).toBe(true);
        expect(window.length).toBeLessThanOrEqual(WINDOW_OBJECTS);
      }
    }),
    { numRuns: 50 },
  );
});
