import { promptId } from '../dataset/prompt-id.ts';
import type { LedgerEntry } from '../run/ledger-entry.ts';
import type { Outcome } from '../trajectory/outcome.ts';
import { NO_USAGE } from '../trajectory/usage.ts';
import type { BatchRecord } from './batch-record.ts';
import type { PromptProgress } from './prompt-progress.ts';

/** What is the same for all prompts of a batch that end so. */
export interface EndedBatch {
  batch: Pick<BatchRecord, 'batch' | 'pass'>;
  model: string;
  image: string;
  /** ISO 8601. */
  now: string;
}

/** The ledger entry of a prompt that ends without any work on it: an attempt that took no time. */
export function entryWithoutRow(
  { batch, model, image, now }: EndedBatch,
  { reference, nextAttempt }: PromptProgress,
  end: { outcome: Outcome; reason: string },
): LedgerEntry {
  return {
    prompt_id: promptId(reference.hash, reference.occurrence),
    prompt_index: reference.index,
    sample: reference.sample,
    pass: batch.pass,
    batch: batch.batch,
    outcome: end.outcome,
    reason: end.reason,
    model,
    image,
    toolsets: [],
    api_calls: 0,
    usage: NO_USAGE,
    timing: {
      attempt: nextAttempt,
      started_at: now,
      ended_at: now,
      total_seconds: 0,
      model_seconds: 0,
      tool_seconds: 0,
      sandbox_seconds: 0,
    },
    tools: {},
    assistant_turns: 0,
    turns_with_reasoning: 0,
    adopted: false,
  };
}
