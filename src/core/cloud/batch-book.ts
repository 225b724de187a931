import type { BatchWork } from '../ports/batch-work.ts';
import type { LedgerEntry } from '../run/ledger-entry.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { BatchRecord } from './batch-record.ts';
import { isFinalAttempt, type PromptProgress, promptProgress } from './prompt-progress.ts';

export interface BatchBookDeps {
  work: Pick<BatchWork, 'record' | 'setStarts'>;
  maxAttempts: number;
}

export interface CommittedAttempt {
  position: number;
  /** The launch that ran it. */
  launch: number;
  /** "" for one without a row. */
  sampleKey: string;
  entry: LedgerEntry;
  /** Set where outcome and number do not tell. */
  isFinal?: boolean;
}

/** A batch as one launch works on it: what the table has, kept up with what is written. */
export interface BatchBook {
  /** Where each prompt stands, by position. */
  progress(): PromptProgress[];
  /** Counts a start of the prompt, durably. */
  start(position: number): Promise<void>;
  /** Commits an attempt, and with it its prompt's end where it is the last. */
  commit(attempt: CommittedAttempt): Promise<void>;
  /** Counts of starts as they are to be where this launch's starts without an end shall not count. */
  withoutOwnStarts(): Map<number, number>;
}

export function createBatchBook(
  batch: BatchRecord,
  before: readonly AttemptRecord[],
  { work, maxAttempts }: BatchBookDeps,
): BatchBook {
  const attempts = [...before];
  const starts = new Map(Object.entries(batch.starts).map(([at, count]) => [Number(at), count]));
  const own = new Set<number>();

  const progress = () =>
    promptProgress(
      { prompts: batch.prompts, starts: Object.fromEntries(starts) },
      attempts,
      maxAttempts,
    );

  return {
    progress,
    async start(position) {
      const count = (starts.get(position) ?? 0) + 1;
      await work.setStarts(new Map([[position, count]]));
      starts.set(position, count);
      own.add(position);
    },
    async commit({ position, launch, sampleKey, entry, isFinal }) {
      const of = progress()[position];
      if (of === undefined) throw new Error(`batch ${batch.batch} has no prompt ${position}`);
      const attempt: AttemptRecord = {
        position,
        launch,
        sample_key: sampleKey,
        entry,
        ...(isFinal !== undefined && { is_final: isFinal }),
      };
      const isLast = isFinal ?? isFinalAttempt(entry.outcome, of.counted, maxAttempts);
      const ended = {
        outcome: entry.outcome,
        attempt: entry.timing.attempt,
        batch: batch.batch,
        position,
        sample_key: sampleKey,
      };
      const { reference: prompt } = of;
      await work.record({ attempt, ended: isLast ? ended : undefined, prompt });
      attempts.push(attempt);
      starts.delete(position);
      own.delete(position);
    },
    withoutOwnStarts: () =>
      new Map([...own].map((position) => [position, (starts.get(position) ?? 1) - 1])),
  };
}
