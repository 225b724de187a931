import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { datasetCard } from '../../../src/core/run/dataset-card.ts';
import { type Trajectory, trajectoryLine } from '../../../src/core/trajectory/trajectory.ts';
import { NO_USAGE } from '../../../src/core/trajectory/usage.ts';
import { loadDataset, skipsWithoutDatasets } from '../../support/python-datasets.ts';
import {
  trajectoryRow,
  trajectoryRowWithCall,
  turn,
} from '../../unit/trajectory/trajectory-row.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'talaria-load-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function loadRows(
  rows: readonly Trajectory[],
  picks: number[] = [],
  extraToolNames: readonly string[] = [],
) {
  const facts = { runName: 'first', model: 'a "b"\n:c', rows: rows.length, rehearsal: true };
  await writeFile(join(folder, 'README.md'), datasetCard({ ...facts, extraToolNames }));
  const lines = rows.map((row) => `${trajectoryLine(row)}\n`);
  await writeFile(join(folder, 'trajectories.jsonl'), lines.join(''));
  // What else a run leaves beside its rows must not be read as rows.
  await writeFile(join(folder, 'batch_0.jsonl'), lines.join(''));
  await writeFile(join(folder, 'ledger.jsonl'), '{"other":1}\n');
  await writeFile(join(folder, 'statistics.json'), '{"other":[]}\n');
  return loadDataset(folder, picks);
}

/** A row as `datasets` gives it back. */
function asLoaded(row: Trajectory): unknown {
  return JSON.parse(JSON.stringify(row));
}

const plain = (index: number) => trajectoryRow(index);
const called = (index: number) => trajectoryRowWithCall(index);

describe.skipIf(skipsWithoutDatasets())('load_dataset on the folder of a run', () => {
  it.each([
    ['with calls first', [called(0), called(1), plain(2), plain(3)]],
    ['without calls first', [plain(3), plain(2), called(1), called(0)]],
    ['mixed', [plain(0), called(1), plain(2), called(3)]],
    ['only without calls', [plain(0), plain(1)]],
    ['one row', [called(0)]],
  ])('reads rows %s', async (_name, rows) => {
    const loaded = await loadRows(rows, [0, rows.length - 1]);
    expect(loaded.splits).toEqual({ train: rows.length });
    expect(loaded.prompt_index).toEqual(rows.map((row) => row.prompt_index));
    expect(loaded.picked).toEqual([rows.at(0), rows.at(-1)].map((row) => row && asLoaded(row)));
  });

  it('has the same features whatever the rows', async () => {
    const one = await loadRows([plain(0)]);
    const other = await loadRows([called(0)]);
    expect(one.features).toBe(other.features);
    expect(one.features).toMatch(/'tool_calls': (List\(|\[)\{'id': Value\(.*'string'/);
  });

  it('reads rows with calls after 20 MB of rows without', async () => {
    const long = turn({ value: 'x'.repeat(100_000), reasoning: 'thought' });
    const rows = Array.from({ length: 210 }, (_, index) =>
      trajectoryRow(index, { conversations: [turn({ from: 'human', value: 'go' }), long] }),
    );
    rows.push(called(210), called(211));
    const loaded = await loadRows(rows, [210]);
    expect(loaded.prompt_index).toEqual(rows.map((row) => row.prompt_index));
    expect(loaded.picked).toEqual([asLoaded(called(210))]);
  });

  it('reads odd values', async () => {
    const odd = [
      'two\u2028lines\u2029here\u0085',
      'nul \0, escape \u001b[31m, 😀',
      '\\ud800 spelt out',
      '{"a": [1, "]"]}',
      '',
    ];
    const rows = [
      ...[null, 0.25, 0, 1e-9].map((cost_usd, index) =>
        trajectoryRow(index, { usage: { ...NO_USAGE, cost_usd } }),
      ),
      ...odd.map((value, index) =>
        trajectoryRow(index + 4, {
          conversations: [turn({ from: 'human', value, reasoning: value })],
          reason: value,
          metadata: { ...plain(index).metadata, source: value, image: value },
          toolsets_used: [value],
        }),
      ),
      trajectoryRow(9, { conversations: [], prompt_index: Number.MAX_SAFE_INTEGER }),
    ];
    const loaded = await loadRows(rows, [...rows.keys()]);
    expect(loaded.picked).toEqual(rows.map(asLoaded));
  });

  it('reads the columns of tools outside the table', async () => {
    const name = 'mcp: "odd" #name';
    const rows = [0, 1].map((index) => {
      const { tool_stats, tool_error_counts } = plain(index);
      return trajectoryRow(index, {
        tool_stats: { ...tool_stats, [name]: { count: index, success: index, failure: 0 } },
        tool_error_counts: { ...tool_error_counts, [name]: 0 },
      });
    });
    const loaded = await loadRows(rows, [0, 1], [name]);
    expect(loaded.picked).toEqual(rows.map(asLoaded));
  });

  // pyarrow refuses the escape that JSON.stringify writes, and with it the whole file.
  it('reads a row with lone surrogates', async () => {
    const value = 'a\ud800b\udc00\ud83d';
    const rows = [plain(0), trajectoryRow(1, { conversations: [turn({ value })] })];
    const loaded = await loadRows(rows);
    expect(loaded.prompt_index).toEqual([0, 1]);
  });
});
