import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createFrameReader,
  encodeFrame,
  type Frame,
  MAX_BYTES,
  MAX_JSON,
  ProtocolError,
} from '../../../src/adapters/sandbox/protocol/frames.ts';

describe('frames', () => {
  it('come out as they went in, however the stream is cut', () => {
    const frame = fc.record({ json: fc.string({ unit: 'grapheme' }), bytes: fc.uint8Array() });
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 9 })), (frames, cuts) => {
        const seen: Frame[] = [];
        const read = createFrameReader((one) => seen.push(one));
        const all = Buffer.concat(frames.flatMap(encodeFrame));
        let at = 0;
        for (const cut of cuts) {
          read(all.subarray(at, at + cut));
          at = Math.min(at + cut, all.length);
        }
        read(all.subarray(at));
        expect(seen).toEqual(frames);
      }),
    );
  });

  it.each([0, 1, 64 * 1024, 64 * 1024 + 1, 1_000_000])(
    'come whole with %d bytes beside',
    (size) => {
      const frame = { json: '"ü"', bytes: Uint8Array.from({ length: size }, (_, at) => at % 251) };
      const seen: Frame[] = [];
      const read = createFrameReader((one) => seen.push(one));
      for (const part of encodeFrame(frame)) read(part);
      expect(seen.map(({ json }) => json)).toEqual([frame.json]);
      expect(Buffer.compare(seen[0]?.bytes ?? Buffer.alloc(0), frame.bytes)).toBe(0);
    },
  );

  it.each([
    [MAX_JSON + 1, 0],
    [0, MAX_BYTES + 1],
    [0xffffffff, 0xffffffff],
  ])('refuses lengths of %d and %d at the header', (json, bytes) => {
    const read = createFrameReader(() => undefined);
    const header = Buffer.alloc(8);
    header.writeUInt32BE(json, 0);
    header.writeUInt32BE(bytes, 4);
    expect(() => read(header)).toThrow(ProtocolError);
  });

  it('are not made too long either', () => {
    expect(() => encodeFrame({ json: '', bytes: new Uint8Array(MAX_BYTES + 1) })).toThrow(
      /expected at most/,
    );
  });
});
