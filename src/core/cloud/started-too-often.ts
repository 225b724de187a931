import { promptId } from '../dataset/prompt-id.ts';
import { NO_USAGE } from '../trajectory/usage.ts';
import type { CommittedAttempt } from './batch-book.ts';
import type { BatchRecord } from './batch-record.ts';
import type { PromptProgress } from './prompt-progress.ts';

/** The end of a prompt that was started again and again and took its worker with it each time. */
export function startedTooOften(
  batch: Pick<BatchRecord, 'batch' | 'pass' | 'image'>,
  { position, reference, nextAttempt }: PromptProgress,
  of: { launch: number; model: string; now: string },
): CommittedAttempt {
  return {
    position,
    launch: of.launch,
    sampleKey: '',
    isFinal: true,
    entry: {
      prompt_id: promptId(reference.hash, reference.occurrence),
      prompt_index: reference.index,
      sample: reference.sample,
      pass: batch.pass,
      batch: batch.batch,
      outcome: 'failed/internal',
      reason: 'ended its worker three times',
      model: of.model,
      image: batch.image,
      toolsets: [],
      api_calls: 0,
      usage: NO_USAGE,
      timing: {
        attempt: nextAttempt,
        started_at: of.now,
        ended_at: of.now,
        total_seconds: 0,
        model_seconds: 0,
        tool_seconds: 0,
        sandbox_seconds: 0,
      },
      tools: {},
      assistant_turns: 0,
      turns_with_reasoning: 0,
      adopted: false,
    },
  };
}
