import { z } from 'zod';
import { outcomeSchema } from '../trajectory/outcome.ts';
import { type Trajectory, timingSchema, usageSchema } from '../trajectory/trajectory.ts';

const count = z.int().min(0);

/**
 * One attempt of one prompt. Everything that checkpoint and statistics need, so that no row has to
 * be read again for them. All of it but `pass` and `adopted` follows from the row.
 */
export const ledgerEntrySchema = z.object({
  prompt_id: z.string(),
  prompt_index: count,
  sample: count,
  pass: z.int().min(1),
  batch: count,
  outcome: outcomeSchema,
  reason: z.string(),
  model: z.string(),
  image: z.string(),
  toolsets: z.array(z.string()),
  api_calls: count,
  usage: usageSchema,
  timing: timingSchema,
  /** Tools that were called: [calls, successes, failures]. */
  tools: z.record(z.string(), z.tuple([count, count, count])),
  assistant_turns: count,
  turns_with_reasoning: count,
  /** The row was durable before its entry: found and entered by a later start, without a call. */
  adopted: z.boolean(),
});
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;

/** The ledger entry of a row. */
export function ledgerEntryOf(row: Trajectory, pass: number, adopted: boolean): LedgerEntry {
  const assistant = row.conversations.filter((turn) => turn.from === 'gpt');
  return {
    prompt_id: row.metadata.prompt_id,
    prompt_index: row.prompt_index,
    sample: row.metadata.sample,
    pass,
    batch: row.metadata.batch_num,
    outcome: row.outcome,
    reason: row.reason,
    model: row.metadata.model,
    image: row.metadata.image,
    toolsets: row.toolsets_used,
    api_calls: row.api_calls,
    usage: row.usage,
    timing: row.timing,
    tools: Object.fromEntries(
      Object.entries(row.tool_stats)
        .filter(([, of]) => of.count > 0)
        .map(([name, of]) => [name, [of.count, of.success, of.failure]]),
    ),
    assistant_turns: assistant.length,
    turns_with_reasoning: assistant.filter((turn) => turn.reasoning.trim() !== '').length,
    adopted,
  };
}
