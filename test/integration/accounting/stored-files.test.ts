import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digests, expectSound } from '../../support/run-files.ts';
import { makeWorkshop, type Workshop } from '../../support/talaria-process.ts';

const REHEARSAL = { model: 'rehearsal', batch_size: 4, num_workers: 1 };
const OPEN = 'batch_0.open.jsonl';

let workshop: Workshop;
beforeEach(async () => {
  workshop = await makeWorkshop();
  await workshop.dataset(['one', 'two', 'three', 'four']);
});
afterEach(() => workshop.dispose());

function file(name: string): string {
  return join(workshop.folder(), name);
}

/** Kills a run when all of its rows are in the open batch and in the ledger. */
async function killBeforeClosing() {
  await kill(`rename .*${OPEN}`);
}

async function kill(on: string) {
  const end = await workshop.run(REHEARSAL, { killStep: { on } });
  expect(end).toMatchObject({ signal: 'SIGKILL' });
}

function replaceLine(name: string, line: number, by: (text: string) => string) {
  const lines = readFileSync(file(name), 'utf8').split('\n');
  lines[line - 1] = by(lines[line - 1] ?? '');
  writeFileSync(file(name), lines.join('\n'));
}

describe('a torn last line', () => {
  it('is dropped from an open batch and from the ledger', async () => {
    await killBeforeClosing();
    appendFileSync(file(OPEN), '{"prompt_index":9,"conversations":[{"fr');
    appendFileSync(file('ledger.jsonl'), '{"prompt_id":"00');
    expect(await workshop.run({ resume: true })).toMatchObject({ code: 0 });
    expect(expectSound(workshop.folder()).trajectories).toHaveLength(4);
  });

  it('may be the only one', async () => {
    await kill(`write .*${OPEN}`);
    expect(readFileSync(file(OPEN), 'utf8')).not.toMatch(/\n|^$/);
    const end = await workshop.run({ resume: true });
    expect(end).toMatchObject({ code: 0 });
    expect(end.stderr).toContain('4 new, 0 done, 0 to retry');
    expect(expectSound(workshop.folder()).trajectories).toHaveLength(4);
  });

  it('costs the row behind it no second model call where only the ledger lost it', async () => {
    await killBeforeClosing();
    const ledger = readFileSync(file('ledger.jsonl'), 'utf8');
    writeFileSync(file('ledger.jsonl'), ledger.slice(0, -10));
    const end = await workshop.run({ resume: true });
    expect(end).toMatchObject({ code: 0 });
    expect(end.stderr).toContain('0 new, 4 done, 0 to retry');
    expect(end.stderr).toMatch(/1 finished rows? entered in the ledger/);
    const adopted = expectSound(workshop.folder()).ledger.map((entry) => entry.adopted);
    expect(adopted).toEqual([false, false, false, true]);
  });
});

describe('a line that is not what was written', () => {
  it.each([
    ['not JSON', OPEN, 2, (text: string) => text.slice(0, 50)],
    ['not JSON', 'ledger.jsonl', 3, (text: string) => text.slice(0, 50)],
    ['Invalid', OPEN, 1, (text: string) => text.replace('"completed"', '"finished"')],
    ['Invalid', 'ledger.jsonl', 2, (text: string) => text.replace('"batch":0', '"batch":-1')],
  ])('stops the resume, which says where: %s, %s, line %i', async (words, name, line, spoil) => {
    await killBeforeClosing();
    replaceLine(name, line, spoil);
    const spoilt = readFileSync(file(name), 'utf8');
    const end = await workshop.run({ resume: true });
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(end.stderr).toContain(`data/r/${name}, line ${line}: `);
    expect(end.stderr).toMatch(new RegExp(words === 'Invalid' ? 'outcome|batch' : words));
    expect(end.stderr).not.toContain('    at ');
    expect(readFileSync(file(name), 'utf8')).toBe(spoilt);
  });
});

describe('a row that is missing', () => {
  it.each(['run', 'merge'] as const)(
    'makes %s refuse to merge, naming the file',
    async (command) => {
      expect(await workshop.run(REHEARSAL)).toMatchObject({ code: 0 });
      replaceLine('batch_0.jsonl', 2, () => '');
      const rows = readFileSync(file('batch_0.jsonl'), 'utf8').replace('\n\n', '\n');
      writeFileSync(file('batch_0.jsonl'), rows);
      const before = digests(workshop.folder());

      const flags = command === 'run' ? { resume: true } : {};
      const end = await workshop.run(flags, { command });
      expect(end).toMatchObject({ code: 1, stdout: '' });
      expect(end.stderr).toContain('data/r/batch_0.jsonl has 3 rows, but the ledger has 4 of them');
      const after = digests(workshop.folder());
      for (const name of ['trajectories.jsonl', 'statistics.json', 'README.md', 'batch_0.jsonl']) {
        expect(after[name], name).toBe(before[name]);
      }
      expect(readdirSync(workshop.folder()).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    },
  );

  it('is noticed where its whole file is gone', async () => {
    expect(await workshop.run({ ...REHEARSAL, batch_size: 2 })).toMatchObject({ code: 0 });
    writeFileSync(file('batch_1.jsonl'), '');
    const end = await workshop.run({}, { command: 'merge' });
    expect(end.stderr).toContain('data/r/batch_1.jsonl has 0 rows, but the ledger has 2');
  });
});
