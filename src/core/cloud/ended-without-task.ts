import type { Outcome } from '../trajectory/outcome.ts';
import type { AttemptRecord, PromptRecord } from './attempt-record.ts';
import type { BatchRecord } from './batch-record.ts';
import { entryWithoutRow } from './entry-without-row.ts';
import type { PromptProgress } from './prompt-progress.ts';
import type { RunRecord } from './run-record.ts';

/** An attempt that no worker commits, and with its prompt's end, where it is the last. */
export interface PromptEnd {
  hash: string;
  occurrence: number;
  attempt: AttemptRecord;
  prompt: PromptRecord | undefined;
}

/** The end of a prompt without a task: there is no row. */
export function endWithoutTask(
  of: { run: RunRecord; batch: BatchRecord; image: string; now: string },
  owed: PromptProgress,
  end: { outcome: Outcome; reason: string },
): PromptEnd {
  const { run, batch, image, now } = of;
  const { position, nextAttempt: number } = owed;
  const { hash, occurrence } = owed.reference;
  const entry = entryWithoutRow({ batch, model: run.model, image, now }, owed, end);
  // A batch that never had a launch ends as of its first.
  const launch = Math.max(1, batch.launch);
  return {
    hash,
    occurrence,
    attempt: { position, launch, sample_key: '', entry, is_final: true },
    prompt: { outcome: end.outcome, attempt: number, batch: batch.batch, position, sample_key: '' },
  };
}
