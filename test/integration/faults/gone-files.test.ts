import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ModelServer } from '../../support/model-server.ts';
import { completeLines, digests, expectSound, type StoredRun } from '../../support/run-files.ts';
import { useCommandFolder } from '../../support/talaria-command.ts';
import { startScriptedProvider } from '../crash/scripted-provider.ts';
import { expectAsUndisturbed, expectClearEnd, runFaulty } from './faulty-run.ts';

const folder = useCommandFolder();
let requests: string[];
let provider: ModelServer;
let undisturbed: StoredRun;

function words(outputDir: string): string[] {
  return [
    ...['run', '--dataset_file=prompts.jsonl', '--run_name=r', `--output_dir=${outputDir}`],
    ...['--batch_size=2', '--num_workers=1', '--model=m', `--base_url=${provider.baseUrl}`],
    '--toolsets=terminal',
  ];
}

beforeAll(async () => {
  requests = [];
  provider = await startScriptedProvider((prompt) => requests.push(prompt));
  const rows = ['one', 'two', 'three', 'four', 'five'].map((prompt) => `{"prompt":"${prompt}"}\n`);
  await folder.write('prompts.jsonl', rows.join(''));
  const calm = await runFaulty(words('calm'), { cwd: folder.path });
  expect(calm.code, calm.stderr).toBe(0);
  undisturbed = expectSound(folder.at('calm', 'r'));
});
afterAll(() => provider.close());
beforeEach(() => {
  requests.length = 0;
});

describe('a run folder that goes away meanwhile', () => {
  it.each([
    ['an entry is written', 'write .*ledger', 2, /ledger\.jsonl/],
    ['a row is written', 'write .*batch_1.open', 1, /batch_1\.open/],
    ['a batch begins', 'open .*batch_1.open', 1, /batch_1\.open/],
    ['a batch ends', 'rename .*batch_0.open', 1, /batch_0\.open/],
    ['files are merged', 'open .*/trajectories', 1, /trajectories/],
  ])('deleted when %s: the run ends and says which file', async (at, on, nth, names) => {
    const outputDir = `deleted-${at.replaceAll(' ', '-')}`;
    const fault = { command: `rm -rf ${outputDir}/r`, on, nth };
    const end = await runFaulty(words(outputDir), { cwd: folder.path, fault });
    expectClearEnd(end, /it is not there; was the run removed or renamed meanwhile\?/);
    expect(end.stderr).toMatch(names);
    // Nothing is bought for a run that is gone: not one further prompt.
    expect(new Set(requests).size).toBeLessThanOrEqual(at === 'files are merged' ? 5 : 3);
    const again = await runFaulty(words(outputDir), { cwd: folder.path });
    expect(again.code, again.stderr).toBe(0);
    expectAsUndisturbed(folder.at(outputDir, 'r'), undisturbed);
  });

  it('renamed: the run ends, and once the name is back a resume buys nothing twice', async () => {
    const fault = { command: 'mv renamed/r renamed/away', on: 'open .*batch_1.open' };
    const end = await runFaulty(words('renamed'), { cwd: folder.path, fault });
    expectClearEnd(end, /renamed\/r\/batch_1\.open\.jsonl: it is not there/);
    renameSync(folder.at('renamed', 'away'), folder.at('renamed', 'r'));
    requests.length = 0;
    const again = await runFaulty([...words('renamed'), '--resume'], { cwd: folder.path });
    expect(again.code, again.stderr).toBe(0);
    expectAsUndisturbed(folder.at('renamed', 'r'), undisturbed);
    expect(requests).not.toContain('one');
    expect(requests).not.toContain('two');
  });
});

describe('a file that is gone between passes', () => {
  const ledger = (runDir: string) => `${runDir}/ledger.jsonl`;
  const GONE: [string, (runDir: string) => void, RegExp][] = [
    ['the ledger', (run) => rmSync(ledger(run)), /ledger\.jsonl: it is missing: .* Put it back/],
    [
      'the ledger’s end',
      (run) => writeFileSync(ledger(run), `${completeLines(ledger(run)).slice(0, 2).join('\n')}\n`),
      /ledger\.jsonl: it has no entry of batch 2, which is closed: .* Put it back/,
    ],
    [
      'a batch file',
      (run) => rmSync(`${run}/batch_1.jsonl`),
      /batch_1\.jsonl has 0 rows, but the ledger has 2 of them/,
    ],
    [
      'a pass’s dataset',
      (run) => rmSync(`${run}/passes/1/input.jsonl`),
      /passes\/1\/input\.jsonl: it is not there/,
    ],
  ];
  it.each(GONE)('%s: resume and merge say so and buy nothing', async (what, remove, message) => {
    const outputDir = `gone-${what.replaceAll(/\W/g, '-')}`;
    await cp(folder.at('calm'), folder.at(outputDir), { recursive: true });
    remove(folder.at(outputDir, 'r'));
    const before = digests(folder.at(outputDir, 'r'));
    for (const command of [
      [...words(outputDir), '--resume'],
      ['merge', '--run_name=r', `--output_dir=${outputDir}`],
    ]) {
      expectClearEnd(await runFaulty(command, { cwd: folder.path }), message);
    }
    expect(requests).toEqual([]);
    const after = digests(folder.at(outputDir, 'r'));
    // A resume has a pass of its own by the time that it merges.
    expect({ ...after, 'run.json': '' }).toEqual({ ...before, 'run.json': '' });
    expect(existsSync(folder.at(outputDir, 'r', '.lock'))).toBe(false);

    // What was removed is put back from a copy.
    await cp(folder.at('calm', 'r'), folder.at(outputDir, 'r'), {
      recursive: true,
      filter: (path) => !path.endsWith('run.json'),
    });
    const again = await runFaulty([...words(outputDir), '--resume'], { cwd: folder.path });
    expect(again.code, again.stderr).toBe(0);
    expectAsUndisturbed(folder.at(outputDir, 'r'), undisturbed);
    expect(requests).toEqual([]);
    expect(readFileSync(folder.at(outputDir, 'r', 'trajectories.jsonl'), 'utf8')).toBe(
      readFileSync(folder.at('calm', 'r', 'trajectories.jsonl'), 'utf8'),
    );
  });
});
