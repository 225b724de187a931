import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { merge } from '../../../functions/merge/merge.ts';
import { objectText } from '../../support/bucket-objects.ts';
import { storeClosedRun, upload } from '../../support/closed-run.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { mergeDeps } from '../../support/merge-deps.ts';
import { MIXED_PROMPTS, mergeBatches, runItem, setRun } from '../../support/run-items.ts';

describe.skipIf(!hasEmulator())('the states of a merged run', () => {
  let emulator: Emulator;
  let cloud: CloudResources;
  beforeAll(async () => {
    emulator = await startEmulator();
    cloud = await makeCloudResources(emulator.endpoint, 'merge-states');
  }, 60_000);
  afterAll(() => emulator?.stop());

  it('is done once where many try at once, and changes nothing when tried again', async () => {
    const { batches } = await storeClosedRun(cloud, 'race', MIXED_PROMPTS.slice(0, 4));
    await mergeBatches(cloud, 'race', batches);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => merge({ merge_run: 'race' }, mergeDeps(cloud).deps)),
    );
    expect(answers.filter((answer) => JSON.stringify(answer) === '{"end":"done"}')).toHaveLength(1);
    expect(await merge({ merge_run: 'race' }, mergeDeps(cloud).deps)).toEqual({ end: null });
  });

  it('begins the pass of a dataset that waited, in the write that ends this one', async () => {
    const { batches } = await storeClosedRun(cloud, 'next', MIXED_PROMPTS.slice(0, 2));
    await mergeBatches(cloud, 'next', batches);
    const next = upload('datasets/next/more.jsonl', 'v2');
    await setRun(cloud, 'next', { next_dataset: next });
    const { deps, asked } = mergeDeps(cloud);
    expect(await merge({ merge_run: 'next' }, deps)).toEqual({ end: 'planning' });
    expect(asked).toEqual(['resume_planning next']);
    expect(await runItem(cloud, 'next')).toMatchObject({
      state: 'planning',
      pass: 2,
      dataset: next,
      next_dataset: null,
      planner: { lease_until: 0, tries: 0, from_state: 'done' },
    });
  });

  it('takes a dataset that came in the middle of the merge', async () => {
    const { batches } = await storeClosedRun(cloud, 'late', MIXED_PROMPTS.slice(0, 2));
    await mergeBatches(cloud, 'late', batches);
    const { deps } = mergeDeps(cloud);
    const next = upload('datasets/late/more.jsonl', 'v2');
    const slow = {
      ...deps,
      async openLedger(run: string) {
        await setRun(cloud, 'late', { next_dataset: next });
        return await deps.openLedger(run);
      },
    };
    expect(await merge({ merge_run: 'late' }, slow)).toEqual({ end: 'planning' });
  });

  it('ends a cancelled run as cancelled, and leaves a paused one paused', async () => {
    const { batches } = await storeClosedRun(cloud, 'cancel', MIXED_PROMPTS.slice(0, 2));
    await mergeBatches(cloud, 'cancel', batches);
    await setRun(cloud, 'cancel', { state: 'cancelling' });
    const { deps } = mergeDeps(cloud);
    expect(await merge({ merge_run: 'cancel' }, deps)).toEqual({ end: 'cancelled' });

    // Paused with one batch merged and one that goes on later.
    await storeClosedRun(cloud, 'pause', MIXED_PROMPTS.slice(0, 4));
    await mergeBatches(cloud, 'pause', 1);
    await setRun(cloud, 'pause', { state: 'paused', reason: 'no credit' });
    expect(await merge({ merge_run: 'pause' }, deps)).toEqual({ end: 'paused' });
    expect(await runItem(cloud, 'pause')).toMatchObject({ state: 'paused', reason: 'no credit' });
    const statistics = JSON.parse(
      (await objectText(cloud.bucket, 'runs/pause/statistics.json')) ?? '',
    );
    expect(statistics.coverage).toMatchObject({ planned: 4, pending: 2 });
  });

  it('merges a paused run again for the batches that were merged late', async () => {
    await storeClosedRun(cloud, 'late-batch', MIXED_PROMPTS.slice(0, 8));
    await setRun(cloud, 'late-batch', { state: 'paused' });
    const { deps, asked } = mergeDeps(cloud);
    await merge({ merge_batch: { run: 'late-batch', batch: 0 } }, deps);
    expect(asked).toEqual(['merge_run late-batch']);
    const slow = {
      ...deps,
      async openLedger(run: string) {
        const ledger = await deps.openLedger(run);
        // Kept out while the other one writes.
        const other = mergeDeps(cloud);
        await merge({ merge_batch: { run, batch: 1 } }, other.deps);
        expect(other.asked).toEqual([]);
        return ledger;
      },
    };
    expect(await merge({ merge_run: 'late-batch' }, slow)).toEqual({ end: 'paused' });
    expect(asked).toEqual(['merge_run late-batch', 'merge_run late-batch']);
    expect(await merge({ merge_run: 'late-batch' }, deps)).toEqual({ end: 'paused' });
    expect(asked).toHaveLength(2);
  });

  it('merges on where a paused run was resumed and closed in the middle', async () => {
    const { batches } = await storeClosedRun(cloud, 'resumed', MIXED_PROMPTS.slice(0, 2));
    await mergeBatches(cloud, 'resumed', batches);
    await setRun(cloud, 'resumed', { state: 'paused' });
    const { deps, asked } = mergeDeps(cloud);
    const slow = {
      ...deps,
      async openLedger(run: string) {
        await setRun(cloud, 'resumed', { state: 'running' });
        // Kept out while the other one writes.
        expect(await merge({ merge_run: run }, mergeDeps(cloud).deps)).toEqual({ end: null });
        return await deps.openLedger(run);
      },
    };
    expect(await merge({ merge_run: 'resumed' }, slow)).toEqual({ end: 'paused' });
    expect(asked).toEqual(['merge_run resumed']);
    expect(await merge({ merge_run: 'resumed' }, deps)).toEqual({ end: 'done' });
  });

  it('takes over from an invocation that died, and gives up a merge that fails', async () => {
    const { batches } = await storeClosedRun(cloud, 'died', MIXED_PROMPTS.slice(0, 4));
    await mergeBatches(cloud, 'died', batches);
    await setRun(cloud, 'died', {
      state: 'merging',
      merging_from: 'cancelling',
      merge_lease_until: Date.now() + 60_000,
    });
    const { deps } = mergeDeps(cloud);
    expect(await merge({ merge_run: 'died' }, deps)).toEqual({ end: null });
    const later = mergeDeps(cloud, () => Date.now() + 120_000);
    const failing = {
      ...later.deps,
      openLedger: () => Promise.reject(new Error('storage is down')),
    };
    await expect(merge({ merge_run: 'died' }, failing)).rejects.toThrow('storage is down');
    expect(await runItem(cloud, 'died')).toMatchObject({ state: 'merging', merge_lease_until: 0 });
    expect(await merge({ merge_run: 'died' }, deps)).toEqual({ end: 'cancelled' });
  });
});
