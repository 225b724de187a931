import { beforeAll, describe, expect, it } from 'vitest';
import { expectSound } from '../../support/run-files.ts';
import { rehearsal, useCommandFolder } from '../../support/talaria-command.ts';
import { runFaulty } from './faulty-run.ts';
import { readTrace, type SystemCall, skipsWithoutStrace, traced } from './system-calls.ts';

const PROMPTS = 5;
const folder = useCommandFolder();
let calls: SystemCall[];

/** Calls of a name on a path that ends so. */
function all(name: SystemCall['name'], end: string): SystemCall[] {
  return calls.filter((call) => call.name === name && call.path.endsWith(end));
}

/** The first such call that begins after another has ended; there must be one. */
function next(name: SystemCall['name'], end: string, after: SystemCall): SystemCall {
  const found = all(name, end).find((call) => call.began > after.ended);
  if (found === undefined) throw new Error(`no ${name} of ${end} after line ${after.ended}`);
  return found;
}

function only(name: SystemCall['name'], end: string): SystemCall {
  const [first, ...more] = all(name, end);
  if (first === undefined || more.length > 0) {
    throw new Error(
      `expected one ${name} of ${end}, got ${more.length + Number(first !== undefined)}`,
    );
  }
  return first;
}

describe.skipIf(skipsWithoutStrace())('what a loss of power leaves', () => {
  beforeAll(async () => {
    const rows = Array.from({ length: PROMPTS }, (_, index) => `{"prompt":"task ${index}"}\n`);
    await folder.write('prompts.jsonl', rows.join(''));
    const trace = folder.at('trace');
    // One at a time, so that what belongs together follows on each other.
    const words = rehearsal('r', '--num_workers=1', '--toolsets=file');
    const end = await runFaulty(words, { cwd: folder.path, under: traced(trace) });
    expect(end.code, end.stderr).toBe(0);
    expectSound(folder.at('data', 'r'));
    calls = readTrace(trace);
  });

  it('is each row before its ledger entry, each entry before the next, all before the final name', () => {
    const entries = all('write', '/ledger.jsonl');
    expect(entries).toHaveLength(PROMPTS);
    let before: SystemCall = { name: 'sync', path: '', to: '', began: -1, ended: -1 };
    for (const [index, entry] of entries.entries()) {
      const open = `/batch_${Math.floor(index / 2)}.open.jsonl`;
      const row = next('write', open, before);
      const rowDurable = next('sync', open, row);
      expect(entry.began).toBeGreaterThan(rowDurable.ended);
      before = next('sync', '/ledger.jsonl', entry);
      const isLast = index % 2 === 1 || index === PROMPTS - 1;
      if (isLast) expect(only('rename', open).began).toBeGreaterThan(before.ended);
    }
  });

  it.each([
    'run.json',
    'trajectories.jsonl',
    'discarded.jsonl',
    'failed.jsonl',
    'statistics.json',
    'README.md',
  ])('is %s whole under its name or not at all', (name) => {
    const renamed = only('rename', `/${name}.tmp`);
    expect(renamed.to).toMatch(new RegExp(`/${name}$`));
    const durable = only('sync', `/${name}.tmp`);
    expect(renamed.began).toBeGreaterThan(durable.ended);
    for (const written of all('write', `/${name}.tmp`)) {
      expect(durable.began).toBeGreaterThan(written.ended);
    }
    // The name itself is durable with its folder.
    next('sync', '/data/r', renamed);
  });

  it('is the dataset of a pass before the run.json that names it, and that before any row', () => {
    const durable = only('sync', '/input.jsonl.part');
    const settled = next('rename', '/input.jsonl', durable);
    expect(settled.to).toMatch(/passes\/1\/input\.jsonl$/);
    const folderDurable = next('sync', '/passes/1', settled);
    const named = only('rename', '/run.json.tmp');
    expect(named.began).toBeGreaterThan(folderDurable.ended);
    const nameDurable = next('sync', '/data/r', named);
    const [firstRow] = all('write', '/batch_0.open.jsonl');
    expect(firstRow?.began).toBeGreaterThan(nameDurable.ended);
  });

  it('is the name of each batch file, open and final', () => {
    for (const batch of [0, 1, 2]) {
      const open = `/batch_${batch}.open.jsonl`;
      const [row] = all('write', open);
      // Between the file's making and its first row the folder was synced.
      const made = all('sync', '/data/r').filter((sync) => sync.ended < (row?.began ?? 0));
      expect(made.length).toBeGreaterThan(batch);
      next('sync', '/data/r', only('rename', open));
    }
  });
});
