import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ModelServer } from '../../support/model-server.ts';
import { completeLines, expectSound, type StoredRun } from '../../support/run-files.ts';
import { useCommandFolder } from '../../support/talaria-command.ts';
import { startScriptedProvider } from '../crash/scripted-provider.ts';
import { expectAsUndisturbed, expectClearEnd, runFaulty } from './faulty-run.ts';
import { mountSmallDisk, type SmallDisk, skipsWithoutMounts } from './small-disk.ts';

const PROMPTS = ['one', 'thoughtless two', 'three', 'four', 'thoughtless five'];
const folder = useCommandFolder();

/** What was bought is known by the text of the request: prompt and turn. */
let requests: string[];
let provider: ModelServer;
let disk: SmallDisk;
let undisturbed: StoredRun;

function words(outputDir: string): string[] {
  return [
    ...['run', '--dataset_file=prompts.jsonl', '--run_name=r', `--output_dir=${outputDir}`],
    ...['--batch_size=2', '--num_workers=1', '--model=m', `--base_url=${provider.baseUrl}`],
    ...['--toolsets=terminal', '--ephemeral_system_prompt=Be brief.'],
  ];
}

describe.skipIf(skipsWithoutMounts())('a disk that is full', () => {
  beforeAll(async () => {
    requests = [];
    provider = await startScriptedProvider((prompt) => requests.push(prompt));
    await folder.write(
      'prompts.jsonl',
      PROMPTS.map((prompt) => `{"prompt":"${prompt}"}\n`).join(''),
    );
    const calm = await runFaulty(words('calm'), { cwd: folder.path });
    expect(calm.code, calm.stderr).toBe(0);
    undisturbed = expectSound(folder.at('calm', 'r'));
  });
  afterAll(() => provider.close());
  beforeEach(() => {
    disk = mountSmallDisk(folder.at('disk'));
  });
  afterEach(() => disk.unmount());

  /** Where the fault is to meet the run, which file the message names. */
  const WRITES: [string, string, number, RegExp][] = [
    ['the staged dataset', 'write .*staging.*/input.jsonl.part', 1, /input\.jsonl/],
    ['the lock', 'write .*/.lock', 1, /\.lock/],
    ['private.json', 'write .*private.json', 1, /private\.json/],
    ['run.json', 'write .*run.json', 1, /run\.json/],
    ['the first ledger entry', 'write .*ledger', 1, /ledger\.jsonl/],
    ['a later ledger entry, or what comes then', 'write .*ledger', 4, /r\//],
    ['the first row of a batch', 'write .*batch_0.open', 1, /batch_0\.open\.jsonl/],
    ['the first row of a later batch', 'write .*batch_1.open', 1, /batch_1\.open\.jsonl/],
    ['the final files of a batch of two kinds', 'write .*batch_0.jsonl.tmp', 1, /batch_0\.jsonl/],
    ['the other kind', 'write .*discarded_0.jsonl.tmp', 1, /discarded_0\.jsonl/],
    ['the checkpoint', 'write .*checkpoint', 1, /checkpoint\.json/],
    ['trajectories.jsonl', 'write .*/trajectories', 1, /trajectories\.jsonl/],
    ['statistics.json', 'write .*statistics', 1, /statistics\.json/],
    ['README.md', 'write .*README', 1, /README\.md/],
  ];
  const FILES: typeof WRITES = [
    ['the run folder', 'mkdir .*/r$', 1, /disk\/r/],
    ['an open batch', 'open .*batch_1.open', 1, /batch_1\.open\.jsonl/],
    ['a final file', 'open .*batch_0.jsonl.tmp', 1, /batch_0\.jsonl/],
    ['discarded.jsonl', 'open .*/discarded.jsonl', 1, /discarded\.jsonl/],
  ];

  it.each([
    ...WRITES.map((row) => ['bytes', ...row] as const),
    ...FILES.map((row) => ['files', ...row] as const),
  ])('of %s at %s: the run says so, and a resume goes on', async (what, _at, on, nth, names) => {
    requests.length = 0;
    const fault = { command: disk.fill(what), on, nth };
    const end = await runFaulty(words(disk.path), { cwd: folder.path, fault });
    expectClearEnd(end, /no space left on its disk \(ENOSPC\); make room there\. Nothing that was/);
    expect(end.stderr).toMatch(names);
    const before = stored();
    const boughtBefore = requests.splice(0);

    disk.clear();
    const again = await runFaulty([...words(disk.path), '--resume'], { cwd: folder.path });
    expect(again.code, again.stderr).toBe(0);
    expectAsUndisturbed(join(disk.path, 'r'), undisturbed);
    expectNothingLost(before);
    // A row that was durable, with its ledger entry or without, is not bought again.
    const isStored = (prompt: string) =>
      before.rows.some((row) => row.includes(`"value":"${prompt}"`));
    expect(requests.filter(isStored)).toEqual([]);
    expect(new Set([...boughtBefore, ...requests])).toEqual(new Set(PROMPTS));
  });

  it('while it is still full, refuses a resume in the same words and changes nothing', async () => {
    const fault = { command: disk.fill('bytes'), on: 'write .*batch_1.open' };
    await runFaulty(words(disk.path), { cwd: folder.path, fault });
    const before = stored();
    const again = await runFaulty([...words(disk.path), '--resume'], { cwd: folder.path });
    expectClearEnd(again, /no space left on its disk/);
    expectNothingLost(before);
    expect(readdirSync(disk.path).filter((name) => name.includes('staging'))).toEqual([]);
  });

  /** The whole lines of what a run has stored: rows and ledger entries. */
  function stored(): { rows: string[]; entries: string[] } {
    const path = join(disk.path, 'r');
    if (!existsSync(path)) return { rows: [], entries: [] };
    const names = readdirSync(path).filter((name) =>
      /^(batch|discarded)_\d+(\.open)?\.jsonl$/.test(name),
    );
    const rows = new Set(names.flatMap((name) => completeLines(join(path, name))));
    return { rows: [...rows], entries: completeLines(join(path, 'ledger.jsonl')) };
  }

  function expectNothingLost(before: ReturnType<typeof stored>): void {
    const now = stored();
    expect(now.rows).toEqual(expect.arrayContaining(before.rows));
    expect(now.entries).toEqual(expect.arrayContaining(before.entries));
  }
});

describe.skipIf(skipsWithoutMounts())('a disk of the sandboxes that is full', () => {
  beforeAll(async () => {
    provider = await startScriptedProvider();
    await folder.write('prompts.jsonl', '{"prompt":"one"}\n{"prompt":"two"}\n');
  });
  afterAll(() => provider.close());
  beforeEach(() => {
    disk = mountSmallDisk(folder.at('sandboxes'), 8192);
  });
  afterEach(() => disk.unmount());

  it('is refused before any model call', async () => {
    const fault = { command: disk.fill('bytes'), on: 'mkdir .*talaria-' };
    const options = { cwd: folder.path, fault, env: { TMPDIR: disk.path } };
    const end = await runFaulty(words('none'), options);
    expectClearEnd(end, /no space left for sandboxes on the disk of .*TMPDIR/);
    expect(provider.requests).toEqual([]);
    expect(existsSync(folder.at('none'))).toBe(false);
  });

  it('makes no sample: attempts are lost, and a resume runs them again', async () => {
    const fault = { command: disk.fill('bytes'), on: 'open .*batch_0.open' };
    const options = { cwd: folder.path, fault, env: { TMPDIR: disk.path } };
    const end = await runFaulty(words('lost'), options);
    expect(end.code, end.stderr).toBe(1);
    expect(end.stderr).toMatch(/1 prompt failed, see failed.jsonl; --resume tries it again/);
    const { failed, trajectories, ledger } = expectSound(folder.at('lost', 'r'));
    expect(trajectories).toHaveLength(1);
    expect(failed.map((row) => row.outcome)).toEqual(['failed/sandbox_lost']);
    expect(failed[0]?.reason).toContain('no space left for sandboxes');
    expect(ledger.map((entry) => entry.timing.attempt)).toEqual([1, 1, 2, 3]);
    const text = readFileSync(folder.at('lost', 'r', 'failed.jsonl'), 'utf8');
    expect(text).not.toContain('No space left');

    disk.clear();
    const again = await runFaulty([...words('lost'), '--resume'], {
      ...options,
      fault: undefined,
    } as never);
    expect(again.code, again.stderr).toBe(0);
    expect(expectSound(folder.at('lost', 'r')).trajectories).toHaveLength(2);
  });

  it('that a command of the model fills costs its own prompt alone', async () => {
    const greedy = '$(cat /dev/zero > all)';
    await folder.write(
      'prompts.jsonl',
      `{"prompt":"one"}\n{"prompt":"${greedy}"}\n{"prompt":"two"}\n`,
    );
    const options = { cwd: folder.path, env: { TMPDIR: disk.path } };
    const end = await runFaulty([...words('greedy'), '--max_attempts=2'], options);
    expect(end.code, end.stderr).toBe(1);
    const { failed, trajectories } = expectSound(folder.at('greedy', 'r'));
    expect(trajectories).toHaveLength(2);
    expect(failed.map((row) => row.outcome)).toEqual(['failed/sandbox_lost']);
  });
});
