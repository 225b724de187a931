import { expect, it } from 'vitest';
import type { LedgerEntry } from '../../../src/core/run/ledger-entry.ts';
import type { PlannedBatch } from '../../../src/core/run/plan-batches.ts';
import { type RunPassDeps, runPass } from '../../../src/core/run/run-pass.ts';
import { createRunStop } from '../../../src/core/work/run-stop.ts';
import { createSlots } from '../../../src/core/work/slots.ts';
import { trajectoryRow } from '../../unit/trajectory/trajectory-row.ts';
import { makeGate } from './playing-provider.ts';

const nothing = () => undefined;
const OBSERVER = {
  batchStarted: nothing,
  attemptStarted: nothing,
  replied: nothing,
  toolReturned: nothing,
  attemptEnded: nothing,
  handedBack: nothing,
  batchClosed: nothing,
};

it('ends what was started before it tells that the plan could not be read on', async () => {
  const gate = makeGate();
  const ledger: LedgerEntry[] = [];
  const stop = createRunStop();
  const deps: RunPassDeps = {
    async runPrompt() {
      await gate.opened;
      return trajectoryRow(0);
    },
    store: { append: async () => undefined, close: async () => undefined },
    ledger: { append: async (entry) => void ledger.push(entry) },
    observer: OBSERVER,
    slots: createSlots(2),
    stop,
    attemptsBefore: () => 0,
    mayStart: () => true,
    onBatchClosed: async () => undefined,
  };
  const plan = {
    pass: 1,
    maxAttempts: 1,
    firstBatch: 0,
    batches: planThatBreaks(() => gate.open()),
  };
  await expect(runPass(plan, deps)).rejects.toThrow('the disk is gone');
  expect(ledger).toHaveLength(1);
  expect(stop.reason).toEqual({ kind: 'storage', reason: 'the disk is gone' });
});

async function* planThatBreaks(onBreak: () => void): AsyncGenerator<PlannedBatch> {
  const row = { prompt: 'one', image: '', cwd: '', source: '{}' };
  yield { image: '', prompts: [{ promptId: 'a-0', promptIndex: 0, sample: 0, row }] };
  setTimeout(onBreak, 20);
  throw new Error('the disk is gone');
}
