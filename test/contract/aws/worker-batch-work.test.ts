import { randomUUID } from 'node:crypto';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBatchWork } from '../../../src/adapters/aws/batch-work.ts';
import { promptKey } from '../../../src/adapters/aws/table-keys.ts';
import { LeaseLostError, type RecordedAttempt } from '../../../src/core/ports/batch-work.ts';
import { ledgerEntryOf } from '../../../src/core/run/ledger-entry.ts';
import type { Outcome } from '../../../src/core/trajectory/outcome.ts';
import { type CloudBatch, planBatch } from '../../support/cloud-batch.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { trajectoryRow } from '../../unit/trajectory/trajectory-row.ts';

const ROWS = [{ prompt: 'one' }, { prompt: 'two' }];

describe.runIf(hasEmulator())('batch work in the table', () => {
  let emulator: Emulator;
  let resources: CloudResources;
  beforeAll(async () => {
    emulator = await startEmulator();
    resources = await makeCloudResources(emulator.endpoint, 'batch-work');
  }, 60_000);
  afterAll(() => emulator?.stop());

  function workOf({ run, batch }: CloudBatch, launch: number, now = Date.now) {
    return createBatchWork({
      table: resources.table,
      clock: { now },
      run,
      batch,
      launch,
      uniqueId: randomUUID,
    });
  }

  async function claimed(run: string) {
    const batch = await planBatch(resources, { run, rows: ROWS });
    await batch.launch(1);
    const work = workOf(batch, 1);
    await work.claim();
    return { batch, work };
  }

  async function attemptOf(
    batch: CloudBatch,
    position: number,
    { outcome = 'completed' as Outcome, isEnd = true, number = 1, launch = 1 } = {},
  ): Promise<RecordedAttempt> {
    const reference = (await batch.record()).prompts[position];
    if (reference === undefined) throw new Error('no such prompt');
    const row = trajectoryRow(position);
    const entry = { ...ledgerEntryOf(row, 1, false), outcome };
    const sample_key = `samples/${position}`;
    return {
      attempt: {
        position,
        launch,
        sample_key,
        entry: { ...entry, timing: { ...entry.timing, attempt: number } },
      },
      ended: isEnd ? { outcome, attempt: number, batch: 0, position, sample_key } : undefined,
      prompt: reference,
    };
  }

  it('claims a batch once, and only for the launch it is for', async () => {
    const batch = await planBatch(resources, { run: 'claim', rows: ROWS });
    await batch.launch(2, { unclaimed: 3 });
    await expect(workOf(batch, 1).claim()).rejects.toThrow(LeaseLostError);
    const claims = [workOf(batch, 2).claim(), workOf(batch, 2).claim()];
    const ends = await Promise.allSettled(claims);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await batch.record()).toMatchObject({ state: 'running', unclaimed: 0, launch: 2 });
  });

  it('renews the lease, and tells the state of the run', async () => {
    const { batch, work } = await claimed('renew');
    expect(await work.renew()).toEqual({ run: 'running' });
    await batch.setRun({ state: 'pausing' });
    const late = workOf(batch, 1, () => Date.now() + 1_000_000);
    expect(await late.renew()).toEqual({ run: 'pausing' });
    expect((await batch.record()).lease_until).toBeGreaterThan(Date.now() + 1_100_000);
  });

  it('writes nothing more after it has lost the batch', async () => {
    const { batch, work } = await claimed('lost');
    const attempt = await attemptOf(batch, 0);
    await batch.launch(2);
    const writes = [
      work.renew(),
      work.record(attempt),
      work.setStarts(new Map([[0, 1]])),
      work.handBack({ starts: new Map(), notBefore: 0 }),
    ];
    for (const end of await Promise.allSettled(writes)) {
      expect(end).toMatchObject({ status: 'rejected', reason: { name: 'LeaseLostError' } });
    }
    await expect(work.renew()).rejects.toThrow('launch 1 no longer has batch 0 of run lost');
    // Even where the batch should come back to it.
    await batch.launch(1, { state: 'running' });
    await expect(work.renew()).rejects.toThrow(LeaseLostError);
    expect(await work.attempts()).toEqual([]);
    expect(await batch.record()).toMatchObject({ remaining: 2, starts: {} });
  });

  it('counts ends down and closes the batch with the last', async () => {
    const { batch, work } = await claimed('ends');
    expect(await batch.record()).not.toHaveProperty('begun_by');
    await work.setStarts(new Map([[0, 1]]));
    await work.record(await attemptOf(batch, 0));
    expect(await batch.record()).toMatchObject({ state: 'running', remaining: 1, starts: {} });
    await work.record(await attemptOf(batch, 1, { outcome: 'failed/model_error', isEnd: false }));
    expect(await batch.record()).toMatchObject({ state: 'running', remaining: 1, begun_by: 1 });
    await work.record(await attemptOf(batch, 1, { outcome: 'partial/turns', number: 2 }));
    const closed = await batch.record();
    expect(closed).toMatchObject({ state: 'closed', remaining: 0 });
    expect(closed.closed_at).toBeGreaterThan(0);
    expect((await work.attempts()).map(({ entry }) => entry.outcome)).toEqual([
      'completed',
      'failed/model_error',
      'partial/turns',
    ]);
    expect(await batch.ended()).toMatchObject([
      { outcome: 'completed', attempt: 1, batch: 0, position: 0, sample_key: 'samples/0' },
      { outcome: 'partial/turns', attempt: 2, position: 1 },
    ]);
  });

  it('commits the same attempt once, however often it is told, the last one too', async () => {
    const { batch, work } = await claimed('twice');
    const first = await attemptOf(batch, 0);
    await Promise.all([work.record(first), work.record(first)]);
    await work.record(first);
    expect(await batch.record()).toMatchObject({ state: 'running', remaining: 1 });
    const last = await attemptOf(batch, 1);
    await work.record(last);
    await work.record(last);
    expect(await batch.record()).toMatchObject({ state: 'closed', remaining: 0 });
    expect(await work.attempts()).toHaveLength(2);
  });

  it('refuses an attempt under a number that another one has', async () => {
    const { batch, work } = await claimed('number');
    await work.record(await attemptOf(batch, 0, { isEnd: false }));
    const other = await attemptOf(batch, 0, { launch: 7 });
    await expect(work.record(other)).rejects.toThrow(LeaseLostError);
    expect(await batch.record()).toMatchObject({ remaining: 2 });
  });

  it.each([
    ['completed', 'completed'],
    ['failed/model_error', 'partial/time'],
  ] as const)('over a prompt that is %s, leaves it %s', async (before, after) => {
    const { batch, work } = await claimed(`prompt-${after.slice(0, 4)}`);
    const attempt = await attemptOf(batch, 0, { outcome: 'partial/time' });
    const { hash, occurrence } = attempt.prompt;
    const there = { outcome: before, attempt: 9, batch: 5, position: 0, sample_key: '' };
    const key = promptKey(batch.run, hash, occurrence);
    const { client, name } = resources.table;
    await client.send(new PutCommand({ TableName: name, Item: { ...key, ...there } }));
    await work.record(attempt);
    const { Item } = await client.send(new GetCommand({ TableName: name, Key: { ...key } }));
    expect(Item?.['outcome']).toBe(after);
    expect(await batch.record()).toMatchObject({ remaining: 1 });
  });

  it('hands back with the starts that are left, not to be launched before', async () => {
    const { batch, work } = await claimed('back');
    await work.setStarts(new Map([[0, 1]]));
    await work.setStarts(new Map([[1, 2]]));
    await work.handBack({ starts: new Map([[0, 0]]), notBefore: 5 });
    expect(await batch.record()).toMatchObject({
      state: 'waiting',
      starts: { 0: 0, 1: 2 },
      begun_by: 1,
      careful: false,
      lease_until: 5,
      remaining: 2,
    });
    await expect(work.renew()).rejects.toThrow(LeaseLostError);
  });

  it('pauses a run that is running, and no other', async () => {
    const { batch, work } = await claimed('pause');
    await work.pauseRun('no credit');
    await work.pauseRun('something else');
    expect(await batch.runRecord()).toMatchObject({ state: 'pausing', reason: 'no credit' });
    await batch.setRun({ state: 'cancelling' });
    await work.pauseRun('no credit');
    expect(await batch.runRecord()).toMatchObject({ state: 'cancelling' });
  });

  it('goes on over conflicts with other writers of the same item', async () => {
    const { batch, work } = await claimed('conflict');
    const others = Array.from({ length: 4 }, () => workOf(batch, 1));
    const renewals = Array.from({ length: 20 }, (_, at) => others[at % 4]?.renew());
    await Promise.all([...renewals, work.record(await attemptOf(batch, 0))]);
    expect(await batch.record()).toMatchObject({ remaining: 1 });
  });
});
