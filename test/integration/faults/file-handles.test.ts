import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { ledgerEntrySchema } from '../../../src/core/run/ledger-entry.ts';
import { completeLines, expectSound, type StoredRun } from '../../support/run-files.ts';
import { type CommandEnd, rehearsal, useCommandFolder } from '../../support/talaria-command.ts';
import { expectAsUndisturbed, expectClearEnd, runFaulty } from './faulty-run.ts';

/** Node itself takes some 20. */
const LIMITS = [20, 24, 28, 30, 32, 34, 36, 40, 60];
const folder = useCommandFolder();
const words = (runName: string) => rehearsal(runName, '--num_workers=12');
let undisturbed: StoredRun;
const ends = { refused: 0, stopped: 0, lost: 0, well: 0 };

beforeAll(async () => {
  const rows = Array.from({ length: 12 }, (_, index) => `{"prompt":"task ${index}"}\n`);
  await folder.write('prompts.jsonl', rows.join(''));
  const calm = await runFaulty(words('calm'), { cwd: folder.path });
  expect(calm.code, calm.stderr).toBe(0);
  undisturbed = expectSound(folder.at('data', 'calm'));
});

/** What became of the run, having looked whether that was as it should be. */
function endOf(runName: string, end: CommandEnd): keyof typeof ends {
  if (end.stderr.includes('talaria: ')) {
    expectClearEnd(end, /EMFILE/, end.code ?? -1);
    return end.code === 2 ? 'refused' : 'stopped';
  }
  const { failed, ledger } = expectSound(folder.at('data', runName));
  const unlucky = ledger.filter((entry) => entry.outcome !== 'completed');
  for (const entry of unlucky) {
    expect(entry.outcome).toBe('failed/sandbox_lost');
    expect(entry.reason).toMatch(/EMFILE/);
  }
  expect(end.code).toBe(failed.length > 0 ? 1 : 0);
  return unlucky.length > 0 ? 'lost' : 'well';
}

describe('too few file handles', () => {
  it.each(LIMITS)('at most %i: a clear end, and a resume with more goes on', async (limit) => {
    const runName = `handles-${limit}`;
    const under = ['prlimit', `--nofile=${limit}`];
    const end = await runFaulty(words(runName), { cwd: folder.path, under });
    ends[endOf(runName, end)] += 1;
    expect(end.stderr).not.toMatch(/Warning|^\s+at /m);
    const again = await runFaulty([...words(runName), '--resume'], { cwd: folder.path });
    expect(again.code, again.stderr).toBe(0);
    expectAsUndisturbed(folder.at('data', runName), undisturbed);
    // What the host lacked is never shown to the model.
    const rows = readFileSync(folder.at('data', runName, 'trajectories.jsonl'), 'utf8');
    expect(rows).not.toMatch(/EMFILE|too many open files/i);
  });

  it('are refused at some limits and do at others', () => {
    process.stdout.write(`file handles: ${JSON.stringify(ends)}\n`);
    expect(ends.stopped).toBeGreaterThan(0);
    expect(ends.well).toBeGreaterThan(0);
  });

  it('in the middle: no sample is made of it, attempts are lost and tried again', async () => {
    const one = rehearsal('middle', '--num_workers=1', '--batch_size=12');
    // The shell's parent is the command line.
    const fault = { command: 'prlimit --pid $PPID --nofile=3', on: 'write .*batch_0.open', nth: 3 };
    const end = await runFaulty(one, { cwd: folder.path, fault });
    expectClearEnd(end, /too many files are open \(EMFILE\); raise `ulimit -n`/);
    const entries = completeLines(folder.at('data', 'middle', 'ledger.jsonl')).map((line) =>
      ledgerEntrySchema.parse(JSON.parse(line)),
    );
    const lost = entries.filter((entry) => entry.outcome === 'failed/sandbox_lost');
    expect(entries).toHaveLength(3 + lost.length);
    expect(lost.map((entry) => entry.timing.attempt).sort()).toEqual(
      [1, 2, 3].flatMap((attempt) => Array.from({ length: 9 }, () => attempt)),
    );
    for (const { reason } of lost) expect(reason).toContain('EMFILE');
    const again = await runFaulty([...one, '--resume'], { cwd: folder.path });
    expect(again.code, again.stderr).toBe(0);
    expectAsUndisturbed(folder.at('data', 'middle'), undisturbed);
  });
});
