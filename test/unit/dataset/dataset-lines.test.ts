import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DatasetLine, datasetLines } from '../../../src/core/dataset/dataset-lines.ts';

async function* chunked(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}

async function linesOf(content: string | Buffer, sizes: readonly number[] = [], max?: number) {
  const options = max === undefined ? {} : { maxLineBytes: max };
  const lines: DatasetLine[] = [];
  const whole = Buffer.from(content);
  for await (const line of datasetLines(chunked(whole, sizes), options)) {
    lines.push(line);
    if (!('bytes' in line)) continue;
    const at = whole.subarray(line.offset, line.offset + line.bytes.length);
    expect(Buffer.from(line.bytes)).toEqual(at);
  }
  return lines.map((line) =>
    'bytes' in line
      ? `${line.lineNumber}:${Buffer.from(line.bytes).toString('latin1')}`
      : `${line.lineNumber}:too long ${line.tooLongBytes}`,
  );
}

/** The same rules in the plainest way, on the whole content at once. */
function plainLines(content: Buffer, max: number): string[] {
  return content
    .toString('latin1')
    .split('\n')
    .map((raw, index) => {
      const bare = (index === 0 ? raw.replace(/^\xef\xbb\xbf/, '') : raw).replace(/\r$/, '');
      if (bare.length > max) return `${index + 1}:too long ${raw.length}`;
      return /^[ \t\r]*$/.test(bare) ? '' : `${index + 1}:${bare}`;
    })
    .filter((line) => line !== '');
}

describe('datasetLines', () => {
  it.each([
    ['nothing', '', []],
    ['a missing last newline', 'a\nb', ['1:a', '2:b']],
    ['a last newline', 'a\nb\n', ['1:a', '2:b']],
    ['CRLF', 'a\r\nb\r\n', ['1:a', '2:b']],
    ['a CR inside', 'a\rb\n', ['1:a\rb']],
    ['blank lines, which count', '\n \t\n\r\na\n\n', ['4:a']],
    ['a byte order mark', Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0x0a]), ['1:a']],
    ['a mark that is not at the start', Buffer.from('a\n\ufeffb'), ['1:a', '2:\xef\xbb\xbfb']],
    ['U+2028 and U+0085', Buffer.from('a\u2028b\u0085c'), ['1:a\xe2\x80\xa8b\xc2\x85c']],
  ])('%s', async (_name, content, expected) => {
    expect(await linesOf(content)).toEqual(expected);
  });

  it('reports a line over the limit and goes on', async () => {
    expect(await linesOf('abc\nabcd\r\nabcde\nx', [2, 2], 4)).toEqual([
      '1:abc',
      '2:abcd',
      '3:too long 5',
      '4:x',
    ]);
  });

  it('holds none of a line that is far too long', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    async function* endless() {
      for (let count = 0; count < 300; count += 1) yield chunk;
    }
    const before = process.memoryUsage().arrayBuffers;
    const lines: DatasetLine[] = [];
    for await (const line of datasetLines(endless(), { maxLineBytes: 1000 })) lines.push(line);
    expect(lines).toEqual([{ lineNumber: 1, tooLongBytes: 300 * 1024 * 1024 }]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 * 1024 * 1024);
  });

  it('gives the same lines whatever the chunks', async () => {
    const byte = fc.oneof(
      fc.constantFrom(0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf, 0x61, 0x62),
      fc.nat(255),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(byte, { maxLength: 60 }),
        fc.boolean(),
        fc.array(fc.nat(7), { maxLength: 30 }),
        async (bytes, marked, sizes) => {
          const content = Buffer.from(marked ? [0xef, 0xbb, 0xbf, ...bytes] : bytes);
          expect(await linesOf(content, sizes, 9)).toEqual(plainLines(content, 9));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('throws what the stream throws', async () => {
    async function* broken() {
      yield Buffer.from('a\nb');
      throw new Error('the disk is gone');
    }
    const lines = datasetLines(broken());
    expect((await lines.next()).value).toMatchObject({ lineNumber: 1 });
    await expect(lines.next()).rejects.toThrow('the disk is gone');
  });
});
