import { z } from 'zod';
import { TOOL_NAMES } from '../toolsets/registry.ts';

const count = z.int().min(0);

export const toolCountSchema = z.object({ count, success: count, failure: count });
export type ToolCount = z.infer<typeof toolCountSchema>;
export type ToolStats = Record<string, ToolCount>;

/** Zero counts for every tool name, so that all rows have the same columns whatever they used. */
export function emptyToolStats(extraNames: readonly string[] = []): ToolStats {
  const stats: ToolStats = {};
  for (const name of [...TOOL_NAMES, ...extraNames]) {
    stats[name] = { count: 0, success: 0, failure: 0 };
  }
  return stats;
}

/** Counts one call; a name outside the table is left out, since its row is discarded anyway. */
export function countToolCall(stats: ToolStats, name: string, succeeded: boolean): void {
  if (!Object.hasOwn(stats, name)) return;
  const of = stats[name];
  if (of === undefined) return;
  of.count += 1;
  if (succeeded) of.success += 1;
  else of.failure += 1;
}

/** Failures by tool, for the row's `tool_error_counts`. */
export function toolErrorCounts(stats: ToolStats): Record<string, number> {
  return Object.fromEntries(Object.entries(stats).map(([name, of]) => [name, of.failure]));
}

/**
 * Hermes' rule for the text of a tool result: a JSON object whose `error` is set, whose inner
 * `content.error` is set, or with `success: false` failed; empty text or text that begins with
 * `error:` failed; anything else, a command's non-zero exit code included, succeeded.
 */
export function toolSucceeded(result: string): boolean {
  const text = result.trim();
  if (text === '' || text.toLowerCase().startsWith('error:')) return false;
  const parsed = parseObject(text);
  if (parsed === undefined) return true;
  if (isSet(parsed['error']) || parsed['success'] === false) return false;
  const content = parsed['content'];
  return !(isObject(content) && isSet(content['error']));
}

function parseObject(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSet(value: unknown): boolean {
  return Boolean(value);
}
