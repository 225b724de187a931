/** What the model server does with one request. */
export interface ScriptedReply {
  /** 200 if absent. */
  status?: number;
  headers?: Record<string, string>;
  /** Text is sent as it is, anything else as JSON. */
  body?: unknown;
  /** Milliseconds before the answer begins. */
  delayMs?: number;
  /**
   * Instead of a full answer: `reset` drops the connection at once, `cut` in the middle of the
   * body, `hang` never answers, `stall` sends the head and half of the body and nothing more.
   */
  fault?: 'reset' | 'cut' | 'hang' | 'stall';
}

export interface ScriptedCall {
  /** `call_<n>` by its place if absent. */
  id?: string;
  name: string;
  /** An object is sent as its JSON text. */
  arguments: Record<string, unknown> | string;
}

export interface ScriptedCompletion {
  content?: string | null;
  /** Sent as `reasoning_content`. */
  reasoning?: string;
  toolCalls?: readonly ScriptedCall[];
  /** By default as the calls say. */
  finish?: string;
  /** 10 prompt and 5 completion tokens if absent. */
  usage?: Record<string, unknown>;
  /** Further fields of the message. */
  message?: Record<string, unknown>;
}

/** A chat completion, with status 200. */
export function completion(of: ScriptedCompletion): ScriptedReply {
  const message: Record<string, unknown> = { role: 'assistant', content: of.content ?? null };
  if (of.reasoning !== undefined) message['reasoning_content'] = of.reasoning;
  if (of.toolCalls !== undefined) message['tool_calls'] = of.toolCalls.map(wireCall);
  const finish = of.finish ?? (of.toolCalls === undefined ? 'stop' : 'tool_calls');
  return {
    body: {
      id: 'chatcmpl-test',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'test/model',
      choices: [{ index: 0, message: { ...message, ...of.message }, finish_reason: finish }],
      usage: of.usage ?? { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    },
  };
}

/** A final answer with some thinking. */
export function text(content: string, reasoning = 'I can answer now.'): ScriptedReply {
  return completion({ content, reasoning });
}

/** A single tool call with some thinking. */
export function toolCall(
  name: string,
  args: Record<string, unknown> | string,
  reasoning = 'I should use a tool.',
): ScriptedReply {
  return completion({ reasoning, toolCalls: [{ name, arguments: args }] });
}

/** An error in the form of OpenAI. */
export function refusal(
  status: number,
  message: string,
  more: { headers?: Record<string, string>; error?: Record<string, unknown> } = {},
): ScriptedReply {
  const error = { message, type: 'error', code: null, ...more.error };
  return { status, headers: more.headers ?? {}, body: { error } };
}

/** A script that gives these replies in turn, and the last one for ever. */
export function inTurn(...replies: [ScriptedReply, ...ScriptedReply[]]): () => ScriptedReply {
  let next = 0;
  return () => replies[Math.min(next++, replies.length - 1)] ?? replies[0];
}

function wireCall(call: ScriptedCall, index: number): Record<string, unknown> {
  const args = call.arguments;
  return {
    id: call.id ?? `call_${index + 1}`,
    type: 'function',
    function: {
      name: call.name,
      arguments: typeof args === 'string' ? args : JSON.stringify(args),
    },
  };
}
