import type { AssistantMessage, ModelMessage } from '../ports/model.ts';
import {
  countToolCall,
  emptyToolStats,
  type ToolStats,
  toolSucceeded,
} from '../trajectory/tool-stats.ts';
import type { ToolCall, Turn, Usage } from '../trajectory/trajectory.ts';
import { addUsage, NO_USAGE } from '../trajectory/usage.ts';

/** One conversation as it grows: what the model is sent, and what the row will hold. */
export interface Conversation {
  messages: ModelMessage[];
  turns: Turn[];
  stats: ToolStats;
  usage: Usage;
  apiCalls: number;
  /** Takes the runner's secrets out of every text that a row will hold. */
  redact(text: string): string;
}

/** A turn with what it has; the rest is there and empty. */
function turn(from: Turn['from'], fields: Partial<Turn>): Turn {
  return { from, value: '', reasoning: '', tool_calls: [], tool_call_id: '', name: '', ...fields };
}

/** A conversation that begins with the prompt. */
export function startConversation(prompt: string, redact: (text: string) => string): Conversation {
  return {
    messages: [{ role: 'user', content: prompt }],
    turns: [turn('human', { value: redact(prompt) })],
    stats: emptyToolStats(),
    usage: NO_USAGE,
    apiCalls: 0,
    redact,
  };
}

/** Adds a reply that was paid for. */
export function addReply(conversation: Conversation, message: AssistantMessage, usage: Usage) {
  const { redact } = conversation;
  conversation.messages.push(message);
  const calls = message.toolCalls.map((call) => ({
    id: call.id,
    name: redact(call.name),
    arguments: redact(call.arguments),
  }));
  conversation.turns.push(
    turn('gpt', {
      value: redact(message.content),
      reasoning: redact(message.reasoning),
      tool_calls: calls,
    }),
  );
  conversation.usage = addUsage(conversation.usage, usage);
  conversation.apiCalls += 1;
}

/** Adds a tool's result under the id of its call, and counts it. */
export function addToolResult(conversation: Conversation, call: ToolCall, content: string) {
  conversation.messages.push({ role: 'tool', toolCallId: call.id, name: call.name, content });
  conversation.turns.push(turn('tool', { value: content, tool_call_id: call.id, name: call.name }));
  countToolCall(conversation.stats, call.name, toolSucceeded(content));
}
