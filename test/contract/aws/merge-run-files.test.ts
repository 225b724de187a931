import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { merge } from '../../../functions/merge/merge.ts';
import { readSnapshotRows } from '../../../src/adapters/local/dataset-rows.ts';
import { openLocalLedger } from '../../../src/adapters/local/local-ledger.ts';
import { createLocalRunFiles } from '../../../src/adapters/local/local-run-files.ts';
import { runFolder } from '../../../src/adapters/local/run-folder.ts';
import { runFileSchema } from '../../../src/core/run/manifest.ts';
import { mergeRun } from '../../../src/core/run/merge.ts';
import { keysUnder, objectText, putObject } from '../../support/bucket-objects.ts';
import { storeClosedRun } from '../../support/closed-run.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { mergeDeps } from '../../support/merge-deps.ts';
import { sha256Hex } from '../../support/played-run.ts';
import { MIXED_PROMPTS, mergeBatches, runItem } from '../../support/run-items.ts';

const MADE = [
  'trajectories.jsonl',
  'discarded.jsonl',
  'failed.jsonl',
  'statistics.json',
  'checkpoint.json',
  'README.md',
];

describe.skipIf(!hasEmulator())('the files of a merged run', () => {
  let emulator: Emulator;
  let cloud: CloudResources;
  let folder: string;
  beforeAll(async () => {
    emulator = await startEmulator();
    cloud = await makeCloudResources(emulator.endpoint, 'merge-files');
    folder = await mkdtemp(join(tmpdir(), 'talaria-merge-'));
  }, 60_000);
  afterAll(async () => {
    await emulator?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const made = (run: string) =>
    Promise.all(MADE.map((name) => objectText(cloud.bucket, `runs/${run}/${name}`)));

  /** What `talaria merge` makes of the run's folder as it is downloaded. */
  async function mergedLocally(run: string): Promise<string[]> {
    const local = runFolder(folder, run);
    const root = `runs/${run}/`;
    for (const key of await keysUnder(cloud.bucket, root)) {
      const name = key.slice(root.length);
      if (MADE.includes(name) || /^(samples|ledger)\//.test(name)) continue;
      await mkdir(dirname(local.file(name)), { recursive: true });
      await writeFile(local.file(name), (await objectText(cloud.bucket, key)) ?? '');
    }
    const ledger = await openLocalLedger(local.ledger);
    const runFile = runFileSchema.parse(JSON.parse(await readFile(local.manifest, 'utf8')));
    await mergeRun(runFile, {
      ledger,
      files: createLocalRunFiles(local),
      inputRows: (pass) => readSnapshotRows(local.input(pass.input_of_pass)),
      sha256Hex,
    });
    await ledger.close();
    return await Promise.all(MADE.map((name) => readFile(local.file(name), 'utf8')));
  }

  it('makes byte for byte what the local merge makes of the same rows, and ends the run', async () => {
    const { batches } = await storeClosedRun(cloud, 'bytes', MIXED_PROMPTS, { batchSize: 2 });
    expect(batches).toBeGreaterThan(10);
    const early = mergeDeps(cloud);
    expect(await merge({ merge_run: 'bytes' }, early.deps)).toEqual({ end: null });
    await mergeBatches(cloud, 'bytes', batches);
    const { deps } = mergeDeps(cloud);
    expect(await merge({ merge_run: 'bytes' }, deps)).toEqual({ end: 'done' });
    expect(await runItem(cloud, 'bytes')).toMatchObject({ state: 'done', merge_lease_until: 0 });
    const files = await made('bytes');
    expect(files).toEqual(await mergedLocally('bytes'));
    expect(JSON.parse(files[3] ?? '')).toMatchObject({
      coverage: { planned: 23, completed: 6, pending: 0 },
    });
    // By number, not by the order of keys: batch 2 before batch 10.
    const rows = (files[0] ?? '')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const numbers = rows.map(({ metadata }) => metadata.batch_num);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(Math.max(...numbers)).toBeGreaterThan(9);
  });

  it('ends runs of nothing, of discarded and of failed rows alone', async () => {
    await storeClosedRun(cloud, 'empty', []);
    expect(await merge({ merge_run: 'empty' }, mergeDeps(cloud).deps)).toEqual({ end: 'done' });
    for (const [run, outcome] of [
      ['discarded', 'discarded/no_reasoning'],
      ['failed', 'failed/internal'],
    ] as const) {
      const prompts = MIXED_PROMPTS.slice(0, 3).map(({ row }) => ({ row, attempts: [outcome] }));
      const { batches } = await storeClosedRun(cloud, run, prompts);
      await mergeBatches(cloud, run, batches);
      expect(await merge({ merge_run: run }, mergeDeps(cloud).deps)).toEqual({ end: 'done' });
    }
    for (const run of ['empty', 'discarded', 'failed']) {
      const files = await made(run);
      expect(files).toEqual(await mergedLocally(run));
      expect(files[0]).toBe('');
    }
  });

  it('refuses rows that were lost, naming the file, and keeps the files that were there', async () => {
    const { batches } = await storeClosedRun(cloud, 'lost', MIXED_PROMPTS.slice(0, 4));
    await mergeBatches(cloud, 'lost', batches);
    await putObject(cloud.bucket, 'runs/lost/trajectories.jsonl', 'as before\n');
    const text = (await objectText(cloud.bucket, 'runs/lost/batch_0.jsonl')) ?? '';
    await putObject(cloud.bucket, 'runs/lost/batch_0.jsonl', `${text}${text}`);
    const { deps } = mergeDeps(cloud);
    await expect(merge({ merge_run: 'lost' }, deps)).rejects.toThrow('runs/lost/batch_0.jsonl');
    expect(await objectText(cloud.bucket, 'runs/lost/trajectories.jsonl')).toBe('as before\n');
  });
});
