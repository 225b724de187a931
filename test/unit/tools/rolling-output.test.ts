import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRollingOutput } from '../../../src/adapters/sandbox/executor/rolling-output.ts';

describe('createRollingOutput', () => {
  it('keeps the end of any stream and counts what went before', () => {
    const chunk = fc.array(fc.constantFrom(0x0a, 0x61, 0x00), { maxLength: 40 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.array(chunk, { maxLength: 12 }),
        fc.nat(25),
        (window, chunks, wanted) => {
          const output = createRollingOutput(window);
          // One memory for all chunks, as a reader has it.
          const memory = new Uint8Array(40);
          for (const bytes of chunks) {
            memory.set(bytes);
            output.add(memory.subarray(0, bytes.length));
          }
          const whole = chunks.flat();
          const from = whole.length - Math.min(whole.length, window, wanted);
          expect(output.last(wanted)).toEqual({
            bytes: Uint8Array.from(whole.slice(from)),
            skippedBytes: from,
            skippedLines: whole.slice(0, from).filter((byte) => byte === 0x0a).length,
          });
        },
      ),
      { numRuns: 500 },
    );
  });

  it('gives a copy', () => {
    const output = createRollingOutput(4);
    output.add(Uint8Array.from([1, 2]));
    output.last(4).bytes.fill(9);
    expect([...output.last(4).bytes]).toEqual([1, 2]);
  });
});
