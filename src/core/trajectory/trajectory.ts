import { z } from 'zod';
import { TOOL_NAMES } from '../toolsets/registry.ts';
import { outcomeSchema } from './outcome.ts';
import { toolCountSchema } from './tool-stats.ts';

const count = z.int().min(0);
const seconds = z.number().min(0);

/** A call as the model made it; `arguments` is the model's own text, which may not be JSON. */
export const toolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

/** One turn. Every field is always there, so that any mix of rows loads as one table. */
export const turnSchema = z.object({
  from: z.enum(['human', 'gpt', 'tool']),
  value: z.string(),
  reasoning: z.string(),
  tool_calls: z.array(toolCallSchema),
  tool_call_id: z.string(),
  name: z.string(),
});
export type Turn = z.infer<typeof turnSchema>;

/** Tokens and money of all model calls of an attempt; `cost_usd` is null where no price is known. */
export const usageSchema = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  reasoning_tokens: count,
  cached_tokens: count,
  cost_usd: z.number().min(0).nullable(),
});
export type Usage = z.infer<typeof usageSchema>;

/** When the attempt ran (ISO 8601, UTC) and where its time went, in seconds. */
export const timingSchema = z.object({
  attempt: z.int().min(1),
  started_at: z.string(),
  ended_at: z.string(),
  total_seconds: seconds,
  model_seconds: seconds,
  tool_seconds: seconds,
  sandbox_seconds: seconds,
});

export const metadataSchema = z.object({
  batch_num: count,
  timestamp: z.string(),
  model: z.string(),
  run_name: z.string(),
  prompt_id: z.string().regex(/^[0-9a-f]{64}-\d+$/),
  sample: count,
  image: z.string(),
  source: z.string(),
});

/** One row of `trajectories.jsonl`, `discarded.jsonl` and `failed.jsonl`: the same fixed shape. */
export const trajectorySchema = z.object({
  prompt_index: count,
  conversations: z.array(turnSchema),
  metadata: metadataSchema,
  completed: z.boolean(),
  partial: z.boolean(),
  outcome: outcomeSchema,
  reason: z.string(),
  api_calls: count,
  toolsets_used: z.array(z.string()),
  tool_stats: z
    .object(Object.fromEntries(TOOL_NAMES.map((name) => [name, toolCountSchema])))
    .catchall(toolCountSchema),
  tool_error_counts: z
    .object(Object.fromEntries(TOOL_NAMES.map((name) => [name, count])))
    .catchall(count),
  usage: usageSchema,
  timing: timingSchema,
});
export type Trajectory = z.infer<typeof trajectorySchema>;

/** The row schema as JSON Schema (draft 2020-12), as published in `docs/trajectory.schema.json`. */
export function trajectoryJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(trajectorySchema);
}

/** An escape that `JSON.stringify` wrote for a lone surrogate; it writes no other `\ud` escape. */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\(ud[89a-f][0-9a-f]{2})/g;

/**
 * A row as one line of JSON without the newline. U+2028 and U+2029, which some readers take for
 * line ends, are escaped. A lone surrogate becomes the six characters of its escape (backslash,
 * ud800): Arrow, and with it `load_dataset`, refuses a whole file over one such escape.
 */
export function trajectoryLine(row: Trajectory): string {
  const line = JSON.stringify(row).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  return line.includes('\\ud') ? line.replace(LONE_SURROGATE, '$1\\\\$2') : line;
}
