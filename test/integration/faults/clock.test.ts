import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { completeLines, digests, expectSound } from '../../support/run-files.ts';
import { rehearsal, useCommandFolder } from '../../support/talaria-command.ts';
import { runFaulty } from './faulty-run.ts';

const STEPS_BACK = fileURLToPath(new URL('clock-steps-back.mjs', import.meta.url));
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const folder = useCommandFolder();

/** Every number in a JSON value, with where it stands. */
function numbersIn(value: unknown, at = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [[at, value]];
  return Object.entries(value).flatMap(([key, inner]) => numbersIn(inner, `${at}.${key}`));
}

it('a clock that steps back makes no negative time and no other rows', async () => {
  const rows = Array.from({ length: 7 }, (_, index) => `{"prompt":"task ${index}"}\n`);
  await folder.write('prompts.jsonl', rows.slice(0, 4).join(''));
  const options = { cwd: folder.path, under: [], imports: [STEPS_BACK] };
  const first = await runFaulty(rehearsal('r', '--num_workers=2'), options);
  expect(first.code, first.stderr).toBe(0);
  await folder.write('prompts.jsonl', rows.join(''));
  const second = await runFaulty(rehearsal('r', '--resume'), options);
  expect(second.code, second.stderr).toBe(0);

  const { ledger, trajectories, statistics, checkpoint, runFile } = expectSound(
    folder.at('data', 'r'),
  );
  expect(trajectories).toHaveLength(7);
  const starts = ledger.map((entry) => entry.timing.started_at);
  // The clock did step back, or this test shows nothing.
  expect(starts).not.toEqual([...starts].sort());
  expect(String(runFile.passes[1]?.started_at) > String(starts.at(-1))).toBe(true);
  for (const { timing } of ledger) {
    expect(Date.parse(timing.ended_at)).toBeGreaterThanOrEqual(Date.parse(timing.started_at));
  }
  const all = [
    ...completeLines(folder.at('data', 'r', 'ledger.jsonl')).map((line) => JSON.parse(line)),
    statistics,
  ];
  for (const [at, value] of numbersIn(all)) {
    if (typeof value === 'number') expect(value, at).toBeGreaterThanOrEqual(0);
    else if (value === null) expect(at).toMatch(/cost_usd$/);
  }
  expect(checkpoint.last_updated).toMatch(ISO);
  expect(checkpoint.last_updated).toBe(
    ledger
      .map((entry) => entry.timing.ended_at)
      .sort()
      .at(-1),
  );
  expect(statistics.completed_at).toBe(checkpoint.last_updated);
  expect(first.stderr + second.stderr).not.toMatch(/NaN|Infinity|-\d+(\.\d)? s/);

  const before = digests(folder.at('data', 'r'));
  const merge = await runFaulty(['merge', '--run_name=r'], options);
  expect(merge.code, merge.stderr).toBe(0);
  expect(digests(folder.at('data', 'r'))).toEqual(before);
});
