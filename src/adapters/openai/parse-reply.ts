import { z } from 'zod';
import type { ModelReply } from '../../core/ports/model.ts';
import { separateReasoning } from '../../core/trajectory/reasoning.ts';
import { readUsage } from './read-usage.ts';
import { Replay } from './replay.ts';
import { readToolCalls } from './tool-calls.ts';

const messageSchema = z.looseObject({
  content: z.unknown().optional(),
  refusal: z.unknown().optional(),
  tool_calls: z.unknown().optional(),
  function_call: z.unknown().optional(),
});
const choiceSchema = z.looseObject({
  message: z.unknown().optional(),
  finish_reason: z.unknown().optional(),
  error: z.unknown().optional(),
});
const completionSchema = z.looseObject({
  choices: z.array(z.unknown()).catch([]),
  usage: z.unknown().optional(),
  error: z.unknown().optional(),
});

/** A reply; an error that came inside a 200; or a body that is neither. */
export type ParsedReply =
  | { kind: 'reply'; reply: ModelReply }
  | { kind: 'error'; error: unknown }
  | { kind: 'malformed'; what: string };

/**
 * Reads the body of a 200, which may be anything. Never throws. Made-up call ids differ from
 * `earlierIds`, the ids of the conversation so far.
 */
export function parseReply(text: string, earlierIds: ReadonlySet<string>): ParsedReply {
  const body = parseJson(text);
  if (body === undefined) return { kind: 'malformed', what: 'a body that is not JSON' };
  const completion = completionSchema.safeParse(body);
  if (!completion.success) return { kind: 'malformed', what: 'JSON that is no completion' };
  if (isSaid(completion.data.error)) return { kind: 'error', error: completion.data.error };
  const choice = choiceSchema.safeParse(completion.data.choices[0]);
  if (!choice.success) return { kind: 'malformed', what: 'a completion without choices' };
  if (isSaid(choice.data.error)) return { kind: 'error', error: choice.data.error };
  const message = messageSchema.safeParse(choice.data.message);
  if (!message.success) return { kind: 'malformed', what: 'a choice without a message' };
  const finish = choice.data.finish_reason;
  if (finish === 'error') return { kind: 'malformed', what: 'a reply that broke off' };
  const usage = completion.data.usage;
  return { kind: 'reply', reply: readMessage(message.data, finish, usage, earlierIds) };
}

function readMessage(
  message: z.infer<typeof messageSchema>,
  finish: unknown,
  usage: unknown,
  earlierIds: ReadonlySet<string>,
): ModelReply {
  const separated = separateReasoning(message);
  const { calls, extras } = readToolCalls(message.tool_calls, message.function_call, earlierIds);
  const refusal = typeof message.refusal === 'string' ? message.refusal : '';
  return {
    message: {
      role: 'assistant',
      content: separated.content || refusal,
      reasoning: separated.reasoning,
      toolCalls: calls,
      replay: new Replay(message, separated.taggedContent, extras),
    },
    finish: finishOf(finish),
    usage: readUsage(usage),
  };
}

function finishOf(reason: unknown): ModelReply['finish'] {
  switch (reason) {
    case 'tool_calls':
    case 'function_call':
      return 'tool_calls';
    case 'length':
    case 'max_tokens':
      return 'length';
    case 'content_filter':
      return 'content_filter';
    default:
      return 'stop';
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isSaid(error: unknown): boolean {
  return Boolean(error);
}
