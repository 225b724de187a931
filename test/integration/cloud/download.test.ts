import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DeleteObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { merge } from '../../../functions/merge/merge.ts';
import { putObject } from '../../support/bucket-objects.ts';
import { storeClosedRun } from '../../support/closed-run.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { mergeDeps } from '../../support/merge-deps.ts';
import { digests, expectSound } from '../../support/run-files.ts';
import { MIXED_PROMPTS, mergeBatches } from '../../support/run-items.ts';
import { deploySmallStack, type SmallStack } from '../../support/small-stack.ts';
import { useCommandFolder } from '../../support/talaria-command.ts';

describe.skipIf(!hasEmulator())('talaria download', () => {
  const folder = useCommandFolder();
  let emulator: Emulator;
  let stack: SmallStack;
  beforeAll(async () => {
    emulator = await startEmulator();
    stack = await deploySmallStack(emulator.endpoint, 'talaria');
  }, 60_000);
  afterAll(() => emulator?.stop());

  const talaria = (...words: string[]) => folder.talaria(words, { env: emulator.env });
  const at = (run: string, name = '') => join(folder.path, 'data', run, name);

  /** A run of three batches at least, of which so many are merged, or all and the run too. */
  async function store(run: string, merged?: number): Promise<void> {
    const { batches } = await storeClosedRun(stack, run, MIXED_PROMPTS);
    await putObject(stack.bucket, `runs/${run}/private.json`, '{"ephemeral_system_prompt":"x"}');
    await mergeBatches(stack, run, merged ?? batches);
    if (merged === undefined) await merge({ merge_run: run }, mergeDeps(stack).deps);
  }

  it('brings a run as a local one leaves it, so that a merge makes the same bytes', async () => {
    await store('whole');
    const end = await talaria('download', 'whole');
    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(end.stdout).toContain('load_dataset("data/whole")');
    const names = await readdir(at('whole'), { recursive: true });
    expect(names.filter((name) => /private|samples|ledger\/|\.part|\.lock/.test(name))).toEqual([]);
    const before = digests(at('whole'));
    expectSound(at('whole'));
    const merged = await talaria('merge', '--run_name=whole');
    expect(merged, merged.stderr).toMatchObject({ code: 0 });
    expect(digests(at('whole'))).toEqual(before);
  });

  it('fetches only what is missing or has changed, when called again', async () => {
    await store('again');
    const first = JSON.parse((await talaria('download', 'again', '--json')).stdout);
    expect(first).toMatchObject({ run: 'again', skipped: 0, merged: true });
    await rm(at('again', 'batch_0.jsonl'));
    await truncate(at('again', 'failed.jsonl'), 3);
    // As large as before, and edited since.
    const statistics = await readFile(at('again', 'statistics.json'), 'utf8');
    await writeFile(at('again', 'statistics.json'), statistics.replace('1', '2'));
    const again = JSON.parse((await talaria('download', 'again', '--json')).stdout);
    expect(again).toMatchObject({ files: 3, skipped: first.files - 3 });
    expect(await readFile(at('again', 'statistics.json'), 'utf8')).toBe(statistics);
    expectSound(at('again'));
  });

  it('brings what is merged so far while the run goes on, ledger and rows alike', async () => {
    await store('open', 3);
    // In the middle of a batch's merge: its files are there, its ledger isn't yet.
    await putObject(stack.bucket, 'runs/open/batch_9.jsonl', 'half\n');
    const end = await talaria('download', 'open');
    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(end.stdout).toContain('talaria merge --run_name=open');
    const merged = await talaria('merge', '--run_name=open', '--json');
    expect(merged, merged.stderr).toMatchObject({ code: 0 });
    const { coverage } = JSON.parse(merged.stdout).statistics;
    expect(coverage).toMatchObject({ planned: MIXED_PROMPTS.length });
    expect(coverage.pending).toBe(MIXED_PROMPTS.length - 6);
    await stack.bucket.client.send(
      new DeleteObjectCommand({ Bucket: stack.bucket.name, Key: 'runs/open/batch_9.jsonl' }),
    );
    await mergeBatches(stack, 'open', 12);
    await merge({ merge_run: 'open' }, mergeDeps(stack).deps);
    expect((await talaria('download', 'open')).stdout).toContain('load_dataset');
    expectSound(at('open'));
  });

  it('goes on with a large file where it was cut off', async () => {
    await store('large');
    const text = `${'x'.repeat(999)}\n`.repeat(20_000);
    await putObject(stack.bucket, 'runs/large/trajectories.jsonl', text);
    await talaria('download', 'large');
    const path = at('large', 'trajectories.jsonl');
    const etag = await cutOff(path, stack, 15_000_000);
    const end = await talaria('download', 'large', '--json');
    expect(end, end.stderr).toMatchObject({ code: 0 });
    const whole = await readFile(path, 'utf8');
    expect(whole.length).toBe(text.length);
    // The piece that was there is taken as it is, and only the rest is asked for.
    expect(whole.slice(0, 15_000_000)).toBe('y'.repeat(15_000_000));
    expect(whole.slice(15_000_000)).toBe(text.slice(15_000_000));
    expect(await stat(`${path}.${etag}.part`).catch(() => undefined)).toBeUndefined();
  });

  it('refuses a folder that holds another run of that name, and runs that are not there', async () => {
    await store('other');
    await folder.write('prompts.jsonl', '{"prompt":"a"}\n');
    await talaria(
      'run',
      '--dataset_file=prompts.jsonl',
      '--batch_size=1',
      '--run_name=other',
      '--model=rehearsal',
    );
    const before = digests(at('other'));
    const end = await talaria('download', 'other');
    expect(end).toMatchObject({ code: 2 });
    expect(end.stderr).toContain('holds another run of that name');
    expect(digests(at('other'))).toEqual(before);
    // The same run, with a pass of its own since.
    const runFile = JSON.parse(await readFile(at('whole', 'run.json'), 'utf8'));
    runFile.passes.push({ ...runFile.passes[0], pass: 2, started_at: '2026-05-05T00:00:00.000Z' });
    await writeFile(at('whole', 'run.json'), JSON.stringify(runFile));
    const passes = await talaria('download', 'whole');
    expect(passes.stderr).toContain('with 2 passes');
    for (const run of ['none', '../up']) {
      const missing = await talaria('download', run);
      expect(missing).toMatchObject({ code: 2 });
    }
    await putObject(stack.bucket, 'runs/refused/error.json', '{"error":"no rows at all"}');
    const refused = await talaria('download', 'refused');
    expect(refused.stderr).toContain('no rows at all');
    expect(await readdir(join(folder.path, 'data'))).not.toContain('none');
  });

  it('shows by status where a run is, and why one was refused', async () => {
    await store('seen', 2);
    const end = await talaria('status', 'seen');
    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(end.stdout).toContain('seen: running');
    expect(end.stdout).toMatch(/batches +\d+ closed, 2 merged/);
    const json = JSON.parse((await talaria('status', 'seen', '--json')).stdout);
    expect(json).toMatchObject({
      run: 'seen',
      state: 'running',
      prompts: { planned: MIXED_PROMPTS.length, ended: MIXED_PROMPTS.length },
      batches: { merged: 2 },
      refused: null,
    });
    await mergeBatches(stack, 'seen', 12);
    await merge({ merge_run: 'seen' }, mergeDeps(stack).deps);
    const done = await talaria('status', 'seen', '--follow');
    expect(done).toMatchObject({ code: 0 });
    expect(done.stdout).toMatch(/seen: done[\s\S]*coverage {3}planned 23/);
    expect(await talaria('status', 'never')).toMatchObject({ code: 2 });
    const refused = await talaria('status', 'refused');
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stdout).toContain('no rows at all');
  });
});

/** As a download that was killed leaves it: another text of that length, so that it can be told. */
async function cutOff(path: string, stack: SmallStack, bytes: number): Promise<string> {
  const head = new HeadObjectCommand({
    Bucket: stack.bucket.name,
    Key: 'runs/large/trajectories.jsonl',
  });
  const { ETag = '' } = await stack.bucket.client.send(head);
  const etag = ETag.replaceAll('"', '');
  await rm(path);
  await writeFile(`${path}.${etag}.part`, 'y'.repeat(bytes));
  return etag;
}
