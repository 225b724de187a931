import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyDataset } from '../../../src/core/cloud/plan/copy-dataset.ts';
import { planReferences } from '../../../src/core/cloud/plan/plan-references.ts';
import { parseDatasetRow } from '../../../src/core/dataset/dataset-row.ts';
import { planBatches, promptsOf } from '../../../src/core/run/plan-batches.ts';

const sha256Hex = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

async function* chunked(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** As the cloud takes a dataset in. */
async function inputOf(dataset: Buffer, chunk: number) {
  const written: Uint8Array[] = [];
  const hash = createHash('sha256');
  const copied = await copyDataset(chunked(dataset, chunk), {
    file: 'd.jsonl',
    strict: false,
    hash: { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') },
    write: async (bytes) => void written.push(bytes),
    tick: async () => undefined,
  });
  return { input: Buffer.concat(written), copied };
}

const row = fc.record({
  prompt: fc.constantFrom('a', 'b', 'ü', '\u2028', 'x'.repeat(50)),
  image: fc.constantFrom('one', 'two', '', null),
});
const line = fc.oneof(
  { weight: 5, arbitrary: row.map((of) => JSON.stringify(of)) },
  fc.constantFrom('', ' ', 'nonsense', '[]', '{"prompt":"a"}\r'),
);

describe('planReferences', () => {
  it('plans the batches of a local run, and refers to their rows', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 40 }),
        fc.record({
          batchSize: fc.integer({ min: 1, max: 8 }),
          samplesPerPrompt: fc.integer({ min: 1, max: 3 }),
          maxSamples: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
          chunk: fc.integer({ min: 1, max: 30 }),
          end: fc.constantFrom('\n', '\r\n'),
          tried: fc.integer({ min: 0, max: 15 }),
        }),
        async (lines, { batchSize, chunk, end, tried, ...of }) => {
          const dataset = Buffer.from(`\ufeff{"prompt":"first"}${end}${lines.join(end)}`);
          const { input, copied } = await inputOf(dataset, chunk);
          const rows = input.toString().split('\n').slice(0, -1);
          expect(copied.rows).toBe(rows.length);
          expect(copied.sha256).toBe(createHash('sha256').update(input).digest('hex'));

          // Some are done, some failed.
          const outcomeOf = (hash: string, occurrence: number) => {
            const digit = (Number.parseInt(hash.slice(0, 1), 16) + occurrence) % 16;
            if (digit >= tried) return undefined;
            return { outcome: digit % 2 ? 'completed' : 'failed/internal', attempt: 3 } as const;
          };
          const local = planBatches(
            promptsOf(parsed(rows), { ...of, sha256Hex }),
            batchSize,
            (id) => {
              const [hash = '', occurrence] = id.split('-');
              return outcomeOf(hash, Number(occurrence))?.outcome === 'completed';
            },
          );
          const cloud = planReferences(chunked(input, chunk), {
            ...of,
            batchSize,
            sha256Hex,
            outcomes: {
              of: async (prompts) =>
                prompts.map(({ hash, occurrence }) => outcomeOf(hash, occurrence)),
              note: async () => undefined,
            },
          });
          expect(
            (await all(cloud)).map(({ image, prompts }) => [
              image,
              ...prompts.map(({ hash, occurrence, index, sample, offset, length }) => [
                `${hash}-${occurrence}`,
                index,
                sample,
                input.subarray(offset, offset + length).toString(),
              ]),
            ]),
          ).toEqual(
            (await all(local)).map(({ image, prompts }) => [
              image,
              ...prompts.map(({ promptId, promptIndex, sample }) => [
                promptId,
                promptIndex,
                sample,
                // A CR before the row's end is blank.
                rows[promptIndex]?.replace(/\r$/, ''),
              ]),
            ]),
          );
        },
      ),
      { numRuns: 200 },
    );
  });
});

async function* parsed(lines: readonly string[]) {
  for (const [index, text] of lines.entries()) {
    const result = parseDatasetRow(text);
    if (!result.ok) throw new Error(result.reason);
    yield { index, row: result.row };
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
