import { runAgentLoop } from '../../../src/core/agent/agent-loop.ts';
import { type Conversation, startConversation } from '../../../src/core/agent/conversation.ts';
import type { Ending } from '../../../src/core/agent/stop-conditions.ts';
import type { Clock } from '../../../src/core/ports/clock.ts';
import type { ModelReply, ModelRequest } from '../../../src/core/ports/model.ts';
import type { Sandbox } from '../../../src/core/ports/sandbox.ts';
import type { Tool } from '../../../src/core/tools/tool.ts';
import type { ToolCall } from '../../../src/core/trajectory/trajectory.ts';

export const USAGE = {
  prompt_tokens: 2,
  completion_tokens: 1,
  total_tokens: 3,
  reasoning_tokens: 0,
  cached_tokens: 0,
  cost_usd: 0.25,
};

export function reply(
  content: string,
  toolCalls: ToolCall[] = [],
  finish: ModelReply['finish'] = toolCalls.length > 0 ? 'tool_calls' : 'stop',
): ModelReply {
  const message = { role: 'assistant' as const, content, reasoning: 'hm', toolCalls };
  return { message, finish, usage: USAGE };
}

export function call(id: string, name: string, args: unknown = {}): ToolCall {
  return { id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
}

/** A tool that gives what `run` gives, without a sandbox. */
export function tool(name: string, run: Tool['run']): [string, Tool] {
  return [name, { schema: { name, description: '', parameters: { type: 'object' } }, run }];
}

/** A clock that stands still until it is moved. */
export function createHandClock(): Clock & { move(milliseconds: number): void } {
  let time = 0;
  const alarms = new Set<{ at: number; ring(): void }>();
  return {
    now: () => time,
    monotonic: () => time,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        const alarm = {
          at: time + milliseconds,
          ring() {
            alarms.delete(alarm);
            resolve();
          },
        };
        alarms.add(alarm);
        signal?.addEventListener('abort', () => alarm.ring());
      }),
    move(milliseconds) {
      time += milliseconds;
      for (const alarm of [...alarms]) if (alarm.at <= time) alarm.ring();
    },
  };
}

/** No tool of these tests touches it. */
const NO_SANDBOX = {} as Sandbox;

export interface ScriptedRun {
  replies: readonly (ModelReply | ((request: ModelRequest) => ModelReply | Promise<ModelReply>))[];
  tools?: readonly [string, Tool][];
  validToolNames?: readonly string[];
  maxTurns?: number;
  timeoutMs?: number;
  clock?: Clock;
  handBack?: AbortSignal;
  redact?(text: string): string;
}

export interface LoopEnd {
  ending: Ending | 'handed_back';
  conversation: Conversation;
  /** What the model was asked, each as it was at that time. */
  requests: ModelRequest[];
  shown: string[];
}

/** Runs the agent loop against a script: reply after reply. */
export async function runLoop(script: ScriptedRun): Promise<LoopEnd> {
  const redact = script.redact ?? ((text: string) => text);
  const conversation = startConversation('do it', redact);
  const tools = new Map(script.tools ?? []);
  const requests: ModelRequest[] = [];
  const shown: string[] = [];
  const model = {
    async complete(request: ModelRequest) {
      requests.push({ ...request, messages: [...request.messages] });
      const next = script.replies[requests.length - 1];
      if (next === undefined) throw new Error('the script has no further reply');
      return typeof next === 'function' ? await next(request) : next;
    },
  };
  const ending = await runAgentLoop(
    {
      promptId: 'p-0',
      conversation,
      sandbox: NO_SANDBOX,
      tools,
      validToolNames: new Set(script.validToolNames ?? tools.keys()),
      maxTurns: script.maxTurns ?? 10,
      timeoutMs: script.timeoutMs ?? 60_000,
      handBack: script.handBack ?? new AbortController().signal,
    },
    {
      model,
      clock: script.clock ?? createHandClock(),
      redact,
      onReply: () => undefined,
      onToolResult: (_call, result) => shown.push(result),
    },
    { modelMs: 0, toolMs: 0 },
  );
  return { ending, conversation, requests, shown };
}
