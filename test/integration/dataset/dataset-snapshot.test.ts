import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSnapshotRows } from '../../../src/adapters/local/dataset-rows.ts';
import {
  type SnapshotRequest,
  snapshotDataset,
} from '../../../src/adapters/local/dataset-snapshot.ts';
import { DatasetError } from '../../../src/core/dataset/dataset-error.ts';
import type { DatasetRow } from '../../../src/core/dataset/dataset-row.ts';

let folder: string;
let target: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'talaria-dataset-'));
  target = join(folder, 'snapshot.jsonl');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function snapshotOf(content: string | Buffer, more: Partial<SnapshotRequest> = {}) {
  const source = join(folder, 'data.jsonl');
  await writeFile(source, content);
  return snapshotDataset({ source, target, stdin: Readable.from([]), ...more });
}

async function rowsOf(path: string): Promise<DatasetRow[]> {
  const rows: DatasetRow[] = [];
  for await (const { index, row } of readSnapshotRows(path)) {
    expect(index).toBe(rows.length);
    rows.push(row);
  }
  return rows;
}

async function errorOf(snapshot: Promise<unknown>): Promise<DatasetError> {
  const error: unknown = await snapshot.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof DatasetError))
    throw new Error('expected a DatasetError', { cause: error });
  return error;
}

const MIXED = Buffer.concat([
  Buffer.from('\ufeff{"prompt":"a"}\r\n\nnot json\n{"prompt":"b","id":1.0}\n{"image":"x"}\n'),
  Buffer.from([0x7b, 0xff, 0xfe, 0x0a]),
  Buffer.from('{"prompt":"c\u2028"}'),
]);
const MIXED_KEPT = '{"prompt":"a"}\n{"prompt":"b","id":1.0}\n{"prompt":"c\u2028"}\n';

describe('snapshotDataset', () => {
  it('keeps the valid lines in order and says what was wrong with the others', async () => {
    const snapshot = await snapshotOf(MIXED);
    expect(await readFile(target, 'utf8')).toBe(MIXED_KEPT);
    expect(snapshot).toMatchObject({
      sha256: createHash('sha256').update(MIXED_KEPT).digest('hex'),
      bytes: Buffer.byteLength(MIXED_KEPT),
      rows: 3,
      invalidCount: 3,
    });
    expect(snapshot.invalid.map(({ line }) => line)).toEqual([3, 5, 6]);
    expect(snapshot.invalid[2]?.reason).toContain('UTF-8');
    expect(await rowsOf(target)).toEqual([
      { prompt: 'a', image: '', cwd: '', source: '{}' },
      { prompt: 'b', image: '', cwd: '', source: '{"id":1.0}' },
      { prompt: 'c\u2028', image: '', cwd: '', source: '{}' },
    ]);
  });

  it('unpacks gzip by its content, of several members too, from a file or standard input', async () => {
    const packed = Buffer.concat([gzipSync(MIXED.subarray(0, 30)), gzipSync(MIXED.subarray(30))]);
    expect((await snapshotOf(packed)).rows).toBe(3);
    expect(await readFile(target, 'utf8')).toBe(MIXED_KEPT);
    await rm(target);
    const stdin = Readable.from([...packed].map((byte) => Buffer.from([byte])));
    expect((await snapshotDataset({ source: '-', target, stdin })).rows).toBe(3);
    expect(await readFile(target, 'utf8')).toBe(MIXED_KEPT);
  });

  it('stops at maxRows, before a later fault', async () => {
    const packed = gzipSync('{"prompt":"a"}\n'.repeat(1_000_000));
    const torn = packed.subarray(0, packed.length - 10);
    expect(await snapshotOf(torn, { maxRows: 2 })).toMatchObject({ rows: 2, bytes: 30 });
  });

  it('lists 20 bad lines and counts them all', async () => {
    const snapshot = await snapshotOf(`${'[]\n'.repeat(50)}{"prompt":"a"}`);
    expect(snapshot).toMatchObject({ rows: 1, invalidCount: 50 });
    expect(snapshot.invalid).toHaveLength(20);
  });

  it('takes a line of 50 MB, and one over the limit as bad', async () => {
    const long = `{"prompt":"${'ü'.repeat(25_000_000)}"}\n`;
    const content = `{"prompt":"a"}\n${long}{"prompt":"b"}`;
    expect(await snapshotOf(content)).toMatchObject({ rows: 3, invalidCount: 0 });
    expect((await rowsOf(target))[1]?.prompt).toHaveLength(25_000_000);
    const limited = await snapshotOf(content, { maxLineBytes: 1_000_000 });
    expect(limited).toMatchObject({ rows: 2, invalidCount: 1 });
    expect(limited.invalid[0]).toMatchObject({ line: 2 });
  });

  it('reports progress as it goes', async () => {
    const seen: number[] = [];
    const line = `{"prompt":"${'x'.repeat(1000)}"}\n`;
    await snapshotOf(line.repeat(5000), { onProgress: ({ rows }) => seen.push(rows) });
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  it('replaces its own source, since the new file comes by rename', async () => {
    await writeFile(target, MIXED);
    await snapshotDataset({ source: target, target, stdin: Readable.from([]) });
    expect(await readFile(target, 'utf8')).toBe(MIXED_KEPT);
  });
});

describe('a dataset that cannot be used', () => {
  const from = (source: string) => snapshotDataset({ source, target, stdin: Readable.from([]) });

  it.each([
    ['an empty file', '', 0, /got no line/],
    ['blank lines only', '\n\n \r\n', 0, /got no line/],
    ['no valid row', '\n[]\n{}\n', 2, /data\.jsonl:2: .*got an array.*2 bad lines/],
    ['gzip cut short', gzipSync('{"prompt":"a"}\n'.repeat(9)).subarray(0, 30), 0, /ends early/],
    ['two bytes of gzip', Buffer.from([0x1f, 0x8b]), 0, /ends early/],
    ['damaged gzip', Buffer.from([0x1f, 0x8b, 1, 2, 3, 4]), 0, /damaged/],
    ['gzip of nothing', gzipSync(''), 0, /got no line/],
  ])('%s', async (_name, content, line, message) => {
    const error = await errorOf(snapshotOf(content));
    expect(error.message).toMatch(message);
    expect(error.message).toContain(join(folder, 'data.jsonl'));
    expect(error.line).toBe(line);
    expect(await readdir(folder)).toEqual(['data.jsonl']);
  });

  it('a missing file, a folder, an empty standard input', async () => {
    const missing = join(folder, 'none.jsonl');
    expect((await errorOf(from(missing))).message).toBe(
      `${missing}: expected a dataset file, found none`,
    );
    expect((await errorOf(from(folder))).message).toMatch(/got a folder/);
    expect((await errorOf(from('-'))).message).toMatch(/^standard input: .*got no line/);
  });

  it.skipIf(process.getuid?.() === 0)('an unreadable file', async () => {
    const secret = join(folder, 'secret.jsonl');
    await writeFile(secret, '{"prompt":"a"}');
    await chmod(secret, 0);
    expect((await errorOf(from(secret))).message).toMatch(/may read, got EACCES/);
  });

  it('leaves an older snapshot as it was', async () => {
    await snapshotOf(MIXED);
    await errorOf(snapshotOf('[]'));
    expect(await readFile(target, 'utf8')).toBe(MIXED_KEPT);
  });

  it('is no DatasetError where the target is at fault', async () => {
    const elsewhere = join(folder, 'none', 'snapshot.jsonl');
    await expect(snapshotOf(MIXED, { target: elsewhere })).rejects.toMatchObject({
      code: 'ENOENT',
      path: `${elsewhere}.part`,
    });
  });
});

it('gives any bytes a defined end', async () => {
  const line = fc.oneof(
    fc.constantFrom('{"prompt":"a"}', '{"prompt":"b","x":[1]}', '', '{}', '\u2028', '\ufeff', '\r'),
    fc.json(),
    fc.string({ unit: 'binary' }),
  );
  const text = fc.array(line).map((lines) => Buffer.from(lines.join('\n')));
  const raw = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  const packed = fc
    .tuple(fc.oneof(text, raw), fc.nat(40))
    .map(([bytes, cut]) => gzipSync(bytes).subarray(0, cut === 0 ? undefined : -cut));
  await fc.assert(
    fc.asyncProperty(fc.oneof(text, raw, packed), async (content) => {
      const result = await snapshotOf(content).catch((error: unknown) => error);
      if (result instanceof DatasetError) return;
      expect(result).toHaveProperty('rows', (await rowsOf(target)).length);
    }),
    { numRuns: 300 },
  );
});

it('names the line of a snapshot that was damaged later', async () => {
  await snapshotOf(MIXED);
  await writeFile(target, '{"prompt":"a"}\n{"pro', { flag: 'w' });
  const error = await errorOf(rowsOf(target));
  expect(error.message).toContain(`${target}:2: expected a JSON object`);
});
