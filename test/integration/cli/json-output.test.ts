import { describe, expect, it } from 'vitest';
import { readRun } from '../../support/run-files.ts';
import { rehearsal, useCommandFolder } from '../../support/talaria-command.ts';

const folder = useCommandFolder();
const prompts = () => folder.write('prompts.jsonl', '{"prompt":"one"}\n{"prompt":"two"}\n');

/** Standard output has to be one line with one JSON object. */
function only(stdout: string): Record<string, unknown> {
  expect(stdout).toMatch(/^\{.*\}\n$/);
  return JSON.parse(stdout);
}

describe('--json', () => {
  it('gives the result of run and merge as one object, the preflight aside', async () => {
    await prompts();
    const end = await folder.talaria(rehearsal('out', '--json'));
    expect(end.code, end.stderr).toBe(0);
    expect(end.stderr).toContain('talaria run out');
    const { statistics } = readRun(folder.at('data', 'out'));
    expect(only(end.stdout)).toMatchObject({
      run: 'out',
      folder: 'data/out',
      stopped: null,
      statistics,
      files: { trajectories: { rows: 2 }, discarded: { rows: 0 }, failed: { rows: 0 } },
    });
    const merged = await folder.talaria(['merge', '--run-name=out', '--json']);
    expect(only(merged.stdout)).toMatchObject({ run: 'out', statistics });
    expect(merged.stderr).toBe('');
  });

  it.each([
    [['run', '--json'], '3 settings are wrong:'],
    [['run', '--json=true', '--modle=x'], "unknown option '--modle=x'"],
    [['run', '--run_name=q', '--json', '--config=nowhere.json'], "can't read nowhere.json"],
    [['merge', '--json', '--run_name=nope'], 'there is no run nope'],
    [['list-distributions', '--json', '--distributions_file=nope'], "can't read nope"],
  ])('gives the error of %j as an object too', async (words, message) => {
    const end = await folder.talaria(words);
    expect(end.code).toBe(2);
    const object = only(end.stdout);
    expect(Object.keys(object)).toEqual(['error']);
    expect(object['error']).toContain(message);
    expect(end.stderr).toContain(message);
  });
});
