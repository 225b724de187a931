import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { completeLines, expectSound, readRun } from '../../support/run-files.ts';
import { BUNDLE, rehearsal, runToEnd, useCommandFolder } from '../../support/talaria-command.ts';
import { runFaulty } from '../faults/faulty-run.ts';

const PROBE = fileURLToPath(new URL('../../../bench/growth/probe.mjs', import.meta.url));
const MEBIBYTE = 1024 * 1024;
const folder = useCommandFolder();

/** Writes rows until the file has so many bytes; resolves to their number. */
async function writeRows(name: string, bytes: number, rowBytes: number): Promise<number> {
  const file = createWriteStream(folder.at(name));
  const filling = 'x'.repeat(rowBytes);
  let rows = 0;
  for (; rows * rowBytes < bytes; rows += 1) {
    const row = `{"prompt":"task ${rows}","filling":"${filling}"}\n`;
    if (!file.write(row)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
  return rows;
}

describe('a big dataset', () => {
  it('of 300 MiB is taken and planned in constant memory', { timeout: 180_000 }, async () => {
    const rows = await writeRows('big.jsonl', 300 * MEBIBYTE, 20_000);
    const words = rehearsal(
      'big',
      '--dataset_file=big.jsonl',
      '--max_samples=2',
      '--toolsets=file',
    );
    const env = { TALARIA_PROBE: folder.at('used.json') };
    const node = ['--import', PROBE, BUNDLE, ...words];
    const end = await runToEnd(process.execPath, node, folder.path, { env });
    expect(end.code, end.stderr).toBe(0);
    const { trajectories, runFile } = readRun(folder.at('data', 'big'));
    expect(trajectories).toHaveLength(2);
    expect(runFile.passes[0]?.rows).toBe(rows);
    const { peakRssBytes } = JSON.parse(readFileSync(folder.at('used.json'), 'utf8'));
    process.stdout.write(`300 MiB of rows: at most ${Math.round(peakRssBytes / MEBIBYTE)} MiB\n`);
    expect(peakRssBytes).toBeLessThan(280 * MEBIBYTE);
  });

  it('line of 50 MB goes through to its row', { timeout: 120_000 }, async () => {
    const prompt = `Begin ${'ü'.repeat(25_000_000)} end`;
    const source = `{"long":"${'y'.repeat(1_000_000)}"}`;
    await folder.write(
      'long.jsonl',
      `{"prompt":"a"}\n{"prompt":"${prompt}",${source.slice(1)}\n{"prompt":"b"}\n`,
    );
    const end = await folder.talaria(rehearsal('long', '--dataset_file=long.jsonl'));
    expect(end.code, end.stderr).toBe(0);
    const { trajectories, statistics } = expectSound(folder.at('data', 'long'));
    expect(statistics.coverage).toMatchObject({ planned: 3, completed: 3 });
    const long = trajectories.find((row) => row.prompt_index === 1);
    // Not `toBe`: a difference of 50 MB is no message.
    expect(long?.conversations[0]?.value === prompt).toBe(true);
    expect(long?.metadata.source === source).toBe(true);
  });
});

describe('a dataset that changes while it is read', () => {
  // The first write comes after the first of these mebibytes.
  const BYTES = 6 * MEBIBYTE;
  const words = (runName: string) =>
    rehearsal(runName, `--dataset_file=${runName}.jsonl`, '--max_samples=3');
  const on = 'write .*input.jsonl.part';
  const snapshot = (runName: string) =>
    completeLines(folder.at('data', runName, 'passes', '1', 'input.jsonl'));

  it('has the rows that were appended meanwhile', async () => {
    const rows = await writeRows('grows.jsonl', BYTES, 10_000);
    const command = `printf '{"prompt":"late"}\\n' >> grows.jsonl`;
    const end = await runFaulty(words('grows'), { cwd: folder.path, fault: { command, on } });
    expect(end.code, end.stderr).toBe(0);
    expect(snapshot('grows')).toHaveLength(rows + 1);
    expect(snapshot('grows').at(-1)).toBe('{"prompt":"late"}');
    expect(expectSound(folder.at('data', 'grows')).runFile.passes[0]?.rows).toBe(rows + 1);
  });

  it('ends where it was cut off meanwhile, and half a line counts as a bad one', async () => {
    const rows = await writeRows('shrinks.jsonl', BYTES, 10_000);
    const fault = { command: 'truncate -s 100000 shrinks.jsonl', on };
    const end = await runFaulty(words('shrinks'), { cwd: folder.path, fault });
    expect(end.code, end.stderr).toBe(0);
    const taken = snapshot('shrinks');
    expect(taken.length).toBeGreaterThan(50);
    expect(taken.length).toBeLessThan(rows);
    expect(taken.map((line) => JSON.parse(line).prompt)).toEqual(
      taken.map((_, index) => `task ${index}`),
    );
    const { runFile, statistics } = expectSound(folder.at('data', 'shrinks'));
    expect(runFile.passes[0]).toMatchObject({ rows: taken.length, invalid_rows: 1 });
    expect(statistics.coverage).toMatchObject({ planned: 3, completed: 3 });
    expect(end.stderr).toContain('1 bad line is skipped:');
  });

  it('is refused by --strict where half a line came', async () => {
    await writeRows('strict.jsonl', BYTES, 10_000);
    const fault = { command: 'truncate -s 100000 strict.jsonl', on };
    const end = await runFaulty([...words('strict'), '--strict'], { cwd: folder.path, fault });
    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(
      /--strict: the dataset has 1 bad lines, the first is line \d+: .*not JSON/,
    );
  });
});
