import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { z } from 'zod';
import type { Checkpoint } from '../../src/core/run/checkpoint.ts';
import { type LedgerEntry, ledgerEntrySchema } from '../../src/core/run/ledger-entry.ts';
import type { RunFile } from '../../src/core/run/manifest.ts';
import type { Statistics } from '../../src/core/run/statistics.ts';
import { type Trajectory, trajectorySchema } from '../../src/core/trajectory/trajectory.ts';

/** Everything that a run left, each line checked against its schema. */
export interface StoredRun {
  trajectories: Trajectory[];
  discarded: Trajectory[];
  failed: Trajectory[];
  ledger: LedgerEntry[];
  statistics: Statistics;
  checkpoint: Checkpoint;
  runFile: RunFile;
}

export function readRun(folder: string): StoredRun {
  return {
    trajectories: readLines(join(folder, 'trajectories.jsonl'), trajectorySchema),
    discarded: readLines(join(folder, 'discarded.jsonl'), trajectorySchema),
    failed: readLines(join(folder, 'failed.jsonl'), trajectorySchema),
    ledger: readLines(join(folder, 'ledger.jsonl'), ledgerEntrySchema),
    statistics: readJson(join(folder, 'statistics.json')),
    checkpoint: readJson(join(folder, 'checkpoint.json')),
    runFile: readJson(join(folder, 'run.json')),
  };
}

export function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** The complete lines of a file that may be growing; none where it is missing. */
export function completeLines(path: string): string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').split('\n').slice(0, -1);
}

function readLines<T>(path: string, schema: z.ZodType<T>): T[] {
  const text = readFileSync(path, 'utf8');
  expect(text === '' || text.endsWith('\n'), `${path} ends with a line end`).toBe(true);
  return completeLines(path).map((line, index) => {
    const parsed = schema.safeParse(JSON.parse(line));
    if (!parsed.success) throw new Error(`${path}, line ${index + 1}: ${parsed.error.message}`);
    return parsed.data;
  });
}

/** What holds of every run that has ended, whatever happened to it on the way. */
export function expectSound(folder: string): StoredRun {
  const run = readRun(folder);
  expectLedgerMatchesRows(folder, run);
  expect(readFileSync(join(folder, 'trajectories.jsonl'), 'utf8')).toBe(joined(folder, 'batch'));
  expect(readFileSync(join(folder, 'discarded.jsonl'), 'utf8')).toBe(joined(folder, 'discarded'));
  expectNoneTwice([...run.trajectories, ...run.discarded, ...run.failed]);

  const { planned, ...parts } = run.statistics.coverage;
  expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBe(planned);
  expect(run.trajectories).toHaveLength(parts.completed + parts.partial);
  expect(run.discarded).toHaveLength(parts.discarded);
  expect(leftovers(folder)).toEqual([]);
  return run;
}

/** Each attempt once in the ledger, and each with its one row in a batch file. */
function expectLedgerMatchesRows(folder: string, { ledger }: StoredRun): void {
  const entered = ledger.map((of) => `${of.prompt_id} ${of.timing.attempt}`);
  expect(new Set(entered).size).toBe(entered.length);
  const stored = readdirSync(folder)
    .filter((name) => /^(batch|discarded|failed)_\d+\.jsonl$/.test(name))
    .flatMap((name) => readLines(join(folder, name), trajectorySchema))
    .map((row) => `${row.metadata.prompt_id} ${row.timing.attempt}`);
  expect(stored.sort()).toEqual(entered.sort());
}

/** The files of a kind, joined in the order of their numbers. */
function joined(folder: string, kind: 'batch' | 'discarded'): string {
  const numbers = readdirSync(folder).flatMap((name) => {
    const match = new RegExp(`^${kind}_(\\d+)\\.jsonl$`).exec(name);
    return match === null ? [] : [Number(match[1])];
  });
  const names = numbers.sort((a, b) => a - b).map((number) => `${kind}_${number}.jsonl`);
  return names.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
}

function expectNoneTwice(rows: readonly Trajectory[]): void {
  const ids = rows.map((row) => row.metadata.prompt_id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
}

/** Files in and beside a run's folder that only a process at work may have. */
export function leftovers(folder: string): string[] {
  const beside = readdirSync(dirname(folder)).filter((name) =>
    name.startsWith(`.${basename(folder)}.`),
  );
  const inside = filesUnder(folder).filter((name) => /\.(tmp|part)$|\.open\.|\.lock/.test(name));
  return [...beside, ...inside].sort();
}

/** Paths of all files, from the folder on. */
export function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** SHA-256 of every file, by its path. */
export function digests(folder: string): Record<string, string> {
  return Object.fromEntries(
    filesUnder(folder).map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  );
}
