import { z } from 'zod';
import type { ToolCall } from '../../core/trajectory/trajectory.ts';

const callSchema = z.looseObject({
  id: z.unknown().optional(),
  function: z
    .looseObject({ name: z.unknown().optional(), arguments: z.unknown().optional() })
    .catch({
      name: undefined,
      arguments: undefined,
    }),
  extra_content: z.unknown().optional(),
});

export interface ReadToolCalls {
  calls: ToolCall[];
  /** `extra_content` of each call, in the same order. */
  extras: unknown[];
}

/**
 * The calls of a reply, whatever their shape: every id is there and differs from the others and
 * from `earlierIds`, since results are paired by it; names and arguments are text.
 */
export function readToolCalls(
  toolCalls: unknown,
  functionCall: unknown,
  earlierIds: ReadonlySet<string>,
): ReadToolCalls {
  const taken = new Set(earlierIds);
  const read: ReadToolCalls = { calls: [], extras: [] };
  for (const raw of rawCalls(toolCalls, functionCall)) {
    const parsed = callSchema.safeParse(raw);
    if (!parsed.success) continue;
    const { function: called, id, extra_content } = parsed.data;
    read.calls.push({
      id: freeId(id, taken),
      name: typeof called.name === 'string' ? called.name : '',
      arguments: argumentsText(called.arguments),
    });
    read.extras.push(extra_content);
  }
  return read;
}

function rawCalls(toolCalls: unknown, functionCall: unknown): unknown[] {
  if (Array.isArray(toolCalls) && toolCalls.length > 0) return toolCalls;
  // The form before `tool_calls`, which some servers still speak.
  return typeof functionCall === 'object' && functionCall !== null
    ? [{ function: functionCall }]
    : [];
}

function freeId(raw: unknown, taken: Set<string>): string {
  const given = typeof raw === 'string' || typeof raw === 'number' ? String(raw) : '';
  const id = given !== '' && !taken.has(given) ? given : madeUpId(given, taken);
  taken.add(id);
  return id;
}

function madeUpId(given: string, taken: ReadonlySet<string>): string {
  const stem = given === '' ? 'call' : given;
  // Starting from the number of ids keeps the search short in long conversations.
  let number = taken.size + 1;
  while (taken.has(`${stem}_${number}`)) number += 1;
  return `${stem}_${number}`;
}

function argumentsText(raw: unknown): string {
  if (typeof raw === 'string') return raw;
  return raw === undefined || raw === null ? '{}' : JSON.stringify(raw);
}
