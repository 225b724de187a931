import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDynamoPromptOutcomes } from '../../../src/adapters/aws/dynamo-prompt-outcomes.ts';
import { attemptKey, batchKey, livePk } from '../../../src/adapters/aws/table-keys.ts';
import type { AttemptRecord } from '../../../src/core/cloud/attempt-record.ts';
import type { BatchRecord } from '../../../src/core/cloud/batch-record.ts';
import { runKeys } from '../../../src/core/cloud/bucket-keys.ts';
import { PLANNER_LEASE_MS } from '../../../src/core/cloud/plan/plan-hold.ts';
import { ledgerEntryOf } from '../../../src/core/run/ledger-entry.ts';
import type { Outcome } from '../../../src/core/trajectory/outcome.ts';
import { type Trajectory, trajectoryLine } from '../../../src/core/trajectory/trajectory.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { killAt } from '../../support/killed-starter.ts';
import { createCloudView, createStarter, jsonl } from '../../support/starter-deps.ts';
import { trajectoryRow } from '../../unit/trajectory/trajectory-row.ts';

const ROWS = ['a', 'b', 'c', 'd', 'e'].map((prompt) => ({ prompt }));

describe.skipIf(!hasEmulator())('a new dataset of a paused run', () => {
  let emulator: Emulator;
  let resources: CloudResources;
  let view: ReturnType<typeof createCloudView>;

  beforeAll(async () => {
    emulator = await startEmulator();
    resources = await makeCloudResources(emulator.endpoint, 'paused');
    view = createCloudView(resources);
  });
  afterAll(() => emulator.stop());

  function rowOf(batch: BatchRecord, position: number, attempt: number, outcome: Outcome) {
    const of = batch.prompts[position];
    const row = trajectoryRow(of?.index ?? 0);
    const metadata = { ...row.metadata, prompt_id: `${of?.hash}-${of?.occurrence}` };
    const kept = outcome === 'completed';
    const timing = { ...row.timing, attempt };
    return { ...row, metadata, outcome, completed: kept, timing };
  }

  async function putAttempt(name: string, batch: BatchRecord, position: number, row: Trajectory) {
    const attempt: AttemptRecord = {
      position,
      launch: 1,
      sample_key: runKeys(name).sample(batch.batch, position, 1),
      entry: ledgerEntryOf(row, 1, false),
    };
    await resources.table.client.send(
      new PutCommand({
        TableName: resources.table.name,
        Item: { ...attemptKey(name, batch.batch, position, row.timing.attempt), ...attempt },
      }),
    );
  }

  async function storeSample(name: string, batch: BatchRecord, position: number, row: Trajectory) {
    await view.put(runKeys(name).sample(batch.batch, position, 1), trajectoryLine(row));
  }

  /** A run that paused in the middle of its first batch; the second was never launched. */
  async function pausedRun(name: string) {
    await createStarter(resources).start(
      await view.upload(`datasets/${name}/d.jsonl`, jsonl(...ROWS)),
    );
    await view.messages(name);
    const [first] = await view.batches(name);
    if (first === undefined) throw new Error('no batch');
    // a has ended, b was tried, c is stored and not committed, as is a failed try of d.
    await putAttempt(name, first, 0, rowOf(first, 0, 1, 'completed'));
    const [a] = first.prompts;
    if (a !== undefined) await view.putOutcome(name, a, 'completed', 1);
    await putAttempt(name, first, 1, rowOf(first, 1, 1, 'failed/sandbox_lost'));
    await storeSample(name, first, 2, rowOf(first, 2, 1, 'completed'));
    await storeSample(name, first, 3, rowOf(first, 3, 1, 'failed/model_error'));
    const waiting = { ...first, state: 'waiting', launch: 1, remaining: 3, lease_until: 1 };
    await resources.table.client.send(
      new PutCommand({
        TableName: resources.table.name,
        Item: { ...batchKey(name, 0), ...waiting, live_pk: livePk(name, 0) },
      }),
    );
    await view.changeRun(name, { state: 'paused', reason: 'no credits' });
    return await view.upload(`datasets/${name}/d.jsonl`, jsonl(...ROWS, { prompt: 'f' }));
  }

  async function expectPlanned(name: string) {
    const [first, second, ...planned] = await view.batches(name);
    expect(first).toMatchObject({ state: 'closed', remaining: 0, unfinished: 2 });
    expect(second).toMatchObject({ state: 'closed', remaining: 0, unfinished: 1 });
    expect(
      planned.map(({ pass, state, prompts }) => [
        pass,
        state,
        ...prompts.map(({ index, attempts_before: before }) => `${index}+${before}`),
      ]),
    ).toEqual([[2, 'queued', '1+1', '3+1', '4+0', '5+0']]);
    expect(await view.run(name)).toMatchObject({
      state: 'running',
      reason: '',
      pass: 2,
      batches_total: 3,
    });
    expect((await view.messages(name)).map(({ batch }) => batch)).toEqual([2]);
    const outcomes = createDynamoPromptOutcomes(resources.table, name);
    expect(await outcomes.of(first?.prompts ?? [])).toEqual([
      { outcome: 'completed', attempt: 1 },
      { outcome: 'failed/sandbox_lost', attempt: 1 },
      { outcome: 'completed', attempt: 1 },
      { outcome: 'failed/model_error', attempt: 1 },
    ]);
  }

  it('closes what is open, keeps what was paid for, and plans the rest', async () => {
    const event = await pausedRun('paused');
    await createStarter(resources).start(event);
    await expectPlanned('paused');
  });

  it('comes to the same where it is killed between two of its writes', async () => {
    for (let at = 1, isDone = false; !isDone; at += 1) {
      const name = `paused-${at}`;
      const event = await pausedRun(name);
      const killed = killAt(createStarter(resources).deps, at);
      const starter = createStarter(resources, killed.deps);
      await starter.start(event).catch(() => undefined);
      const next = createStarter(resources);
      next.pass(PLANNER_LEASE_MS + 1);
      await next.start(event);
      isDone = killed.writes.at(-1) === 'planned.removeFrom';
      await expectPlanned(name);
    }
  });

  it('is not touched by a note of an older try', async () => {
    const outcomes = createDynamoPromptOutcomes(resources.table, 'notes');
    const prompt = { hash: 'f'.repeat(64), occurrence: 0 };
    const note = async (outcome: Outcome, attempt: number) =>
      await outcomes.note(prompt, { outcome, attempt, batch: 0, position: 0, sample_key: '' });
    await note('failed/internal', 2);
    await note('failed/sandbox_lost', 1);
    expect(await outcomes.of([prompt])).toEqual([{ outcome: 'failed/internal', attempt: 2 }]);
    await note('partial/turns', 3);
    await note('failed/internal', 4);
    expect(await outcomes.of([prompt])).toEqual([{ outcome: 'partial/turns', attempt: 3 }]);
  });
});
