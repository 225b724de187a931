import type { AssistantMessage, ModelMessage } from '../../core/ports/model.ts';
import type { ToolCall } from '../../core/trajectory/trajectory.ts';
import type { Quirks } from './quirks.ts';
import { Replay } from './replay.ts';

/** A message as chat completions take it. */
export type WireMessage = Record<string, unknown>;

/** `message` as it is sent under `quirks`. */
export function wireMessage(message: ModelMessage, quirks: Quirks): WireMessage {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    case 'assistant':
      return assistantMessage(message, quirks);
  }
}

function assistantMessage(message: AssistantMessage, quirks: Quirks): WireMessage {
  const replay = message.replay instanceof Replay ? message.replay : undefined;
  const wire: WireMessage = { role: 'assistant', content: replay?.content ?? message.content };
  if (replay !== undefined && !quirks.withoutThinking) Object.assign(wire, replay.thinking);
  if (message.toolCalls.length === 0) return wire;
  if (wire['content'] === '' && !quirks.emptyContentAsText) wire['content'] = null;
  wire['tool_calls'] = message.toolCalls.map((call, index) =>
    wireToolCall(call, replay?.callExtras[index]),
  );
  return wire;
}

function wireToolCall(call: ToolCall, extra: unknown): Record<string, unknown> {
  const wire: Record<string, unknown> = {
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: sendableArguments(call.arguments) },
  };
  if (extra !== undefined) wire['extra_content'] = extra;
  return wire;
}

/** The model's own text where it is a JSON object; else "{}", since some providers refuse the rest. */
function sendableArguments(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : '{}';
  } catch {
    return '{}';
  }
}
