import { describe, expect, it } from 'vitest';
import type { AttemptRecord } from '../../../src/core/cloud/attempt-record.ts';
import { isFinalAttempt, promptProgress, workOf } from '../../../src/core/cloud/prompt-progress.ts';
import { samplesToAdopt } from '../../../src/core/cloud/samples-to-adopt.ts';
import { ledgerEntryOf } from '../../../src/core/run/ledger-entry.ts';
import type { Outcome } from '../../../src/core/trajectory/outcome.ts';
import { trajectoryRow } from '../trajectory/trajectory-row.ts';

const reference = (index: number) => ({
  index,
  sample: 0,
  hash: index.toString(16).padStart(64, '0'),
  occurrence: 0,
  offset: 0,
  length: 1,
  attempts_before: 0,
});

function attempt(
  position: number,
  number: number,
  outcome: Outcome,
  more: Partial<AttemptRecord> = {},
): AttemptRecord {
  const entry = ledgerEntryOf(trajectoryRow(position), 1, false);
  return {
    position,
    launch: number,
    sample_key: '',
    entry: { ...entry, outcome, timing: { ...entry.timing, attempt: number } },
    ...more,
  };
}

describe('the last attempt', () => {
  it.each([
    ['completed', 0, true],
    ['partial/turns', 0, true],
    ['discarded/no_reasoning', 0, true],
    ['failed/content_filter', 0, true],
    ['failed/image_unavailable', 0, true],
    ['failed/model_error', 0, false],
    ['failed/model_error', 1, false],
    ['failed/model_error', 2, true],
    ['failed/sandbox_lost', 5, true],
    // They stop the run: their prompt stays owed, however often.
    ['failed/auth', 9, false],
    ['failed/credits', 9, false],
  ] as const)('%s after %i of 3: %s', (outcome, counted, isFinal) => {
    expect(isFinalAttempt(outcome, counted, 3)).toBe(isFinal);
  });
});

describe('where prompts stand', () => {
  const prompts = [0, 1, 2].map(reference);

  it('numbers go on over passes, those that stop the run included', () => {
    const batch = { prompts: [{ ...reference(0), attempts_before: 4 }], starts: {} };
    expect(promptProgress(batch, [], 3)).toMatchObject([{ nextAttempt: 5, counted: 0 }]);
    const attempts = [attempt(0, 6, 'failed/model_error'), attempt(0, 5, 'failed/auth')];
    expect(promptProgress(batch, attempts, 3)).toMatchObject([
      { nextAttempt: 7, counted: 1, hasEnded: false },
    ]);
  });

  it('a prompt ends with its last attempt, or where one was said to be', () => {
    const attempts = [
      attempt(0, 1, 'failed/internal'),
      attempt(0, 2, 'failed/internal'),
      attempt(1, 1, 'failed/internal', { is_final: true }),
      attempt(2, 1, 'failed/internal'),
    ];
    const ended = promptProgress({ prompts, starts: {} }, attempts, 2).map((of) => of.hasEnded);
    expect(ended).toEqual([true, true, false]);
  });

  it('after a launch that died, begins with what was never started, and gives up the third', () => {
    const progress = promptProgress({ prompts, starts: { 0: 1, 2: 3 } }, [], 3);
    const positions = ({ run, giveUp }: ReturnType<typeof workOf>) =>
      [run, giveUp].map((of) => of.map(({ position }) => position));
    expect(positions(workOf(progress, false))).toEqual([[0, 1], [2]]);
    expect(positions(workOf(progress, true))).toEqual([[1, 0], [2]]);
  });
});

it('adopts rows without an attempt, in the order of their launches', () => {
  const samples = [
    { position: 0, launch: 2 },
    { position: 1, launch: 1 },
    { position: 0, launch: 1 },
  ];
  const committed = [attempt(1, 1, 'completed', { launch: 1 })];
  expect(samplesToAdopt(samples, committed)).toEqual([
    { position: 0, launch: 1 },
    { position: 0, launch: 2 },
  ]);
});
