import { z } from 'zod';
import type { Usage } from '../../core/trajectory/trajectory.ts';

const count = z
  .unknown()
  .transform((value) =>
    typeof value === 'number' && value >= 0
      ? Math.min(Math.trunc(value), Number.MAX_SAFE_INTEGER)
      : 0,
  );
const amount = z
  .unknown()
  .transform((value) =>
    typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null,
  );

const usageSchema = z
  .looseObject({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: z.looseObject({ cached_tokens: count }).partial().catch({}),
    completion_tokens_details: z.looseObject({ reasoning_tokens: count }).partial().catch({}),
    prompt_cache_hit_tokens: count,
    cost: amount,
    is_byok: z.unknown(),
    cost_details: z.looseObject({ upstream_inference_cost: amount }).partial().catch({}),
  })
  .partial()
  .catch({});

/**
 * The usage of one reply. Counts that are missing or senseless are 0; `cost_usd` is null unless the
 * provider says what the call cost, as OpenRouter does.
 */
export function readUsage(raw: unknown): Usage {
  const usage = usageSchema.parse(raw);
  const prompt = usage.prompt_tokens ?? 0;
  const completion = usage.completion_tokens ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: usage.total_tokens || Math.min(prompt + completion, Number.MAX_SAFE_INTEGER),
    reasoning_tokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
    cached_tokens:
      usage.prompt_tokens_details?.cached_tokens || (usage.prompt_cache_hit_tokens ?? 0),
    cost_usd: costOf(usage),
  };
}

function costOf(usage: z.infer<typeof usageSchema>): number | null {
  const cost = usage.cost ?? null;
  if (cost === null || usage.is_byok !== true) return cost;
  // With the user's own key `cost` is only OpenRouter's fee.
  return cost + (usage.cost_details?.upstream_inference_cost ?? 0);
}
