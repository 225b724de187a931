import type { Clock } from '../ports/clock.ts';
import { type Model, ModelError, type ModelReply } from '../ports/model.ts';
import { type Sandbox, SandboxLostError } from '../ports/sandbox.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import type { ToolCall } from '../trajectory/trajectory.ts';
import { callTool, ToolCrashError, toolError } from './call-tool.ts';
import { addReply, addToolResult, type Conversation } from './conversation.ts';
import { AFTER_TOOLS, BEFORE_TOOLS, type Ending, firstEnding } from './stop-conditions.ts';

export interface AgentLoopDeps {
  model: Model;
  clock: Clock;
  redact(text: string): string;
  /** Told of every reply as it is paid for, and of every tool result. */
  onReply(reply: ModelReply): void;
  onToolResult(call: ToolCall, result: string): void;
}

export interface AgentLoopInput {
  promptId: string;
  conversation: Conversation;
  sandbox: Sandbox;
  tools: ReadonlyMap<string, Tool>;
  validToolNames: ReadonlySet<string>;
  maxTurns: number;
  /** Time limit of the prompt in milliseconds. */
  timeoutMs: number;
  /** Aborted when prompts in flight shall be handed back at their next turn boundary. */
  handBack: AbortSignal;
}

/** Where the time went, in milliseconds. */
export interface LoopTimes {
  modelMs: number;
  toolMs: number;
}

class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/**
 * Runs one conversation to its end: model call, tool calls, results paired by call id, and so on
 * until an answer, a limit or a typed failure. The conversation given is filled in place, so that
 * what was paid for is there whatever the end. `handed_back` means that the run is stopping and
 * nothing shall be recorded.
 */
export async function runAgentLoop(
  input: AgentLoopInput,
  deps: AgentLoopDeps,
  times: LoopTimes,
): Promise<Ending | 'handed_back'> {
  const { conversation, timeoutMs } = input;
  const deadline = deps.clock.monotonic() + timeoutMs;
  const limit = new AbortController();
  const timer = new AbortController();
  void deps.clock.sleep(timeoutMs, timer.signal).then(() => {
    if (!timer.signal.aborted) limit.abort(new OutOfTime());
  });
  const context: ToolContext = {
    sandbox: input.sandbox,
    signal: limit.signal,
    remainingMs: () => Math.max(0, deadline - deps.clock.monotonic()),
    redact: deps.redact,
    todos: [],
  };
  try {
    for (;;) {
      if (input.handBack.aborted) return 'handed_back';
      const reply = await timed(times, 'modelMs', deps.clock, () => query(input, deps, context));
      const ending = await act(reply, input, deps, context, times);
      if (ending !== undefined) return ending;
      if (limit.signal.aborted) throw limit.signal.reason;
    }
  } catch (error) {
    if (input.handBack.aborted && error === input.handBack.reason) return 'handed_back';
    return endingOf(error, conversation, timeoutMs, deps.redact);
  } finally {
    timer.abort();
  }
}

async function query(
  { promptId, conversation, tools, handBack }: AgentLoopInput,
  deps: AgentLoopDeps,
  { signal }: ToolContext,
): Promise<ModelReply> {
  const schemas = [...tools.values()].map((tool) => tool.schema);
  const { messages } = conversation;
  const reply = await deps.model.complete({ promptId, messages, tools: schemas, signal, handBack });
  addReply(conversation, reply.message, reply.usage);
  deps.onReply(reply);
  return reply;
}

/** Follows one reply: ends the conversation, or runs the reply's tool calls in order. */
async function act(
  reply: ModelReply,
  input: AgentLoopInput,
  deps: AgentLoopDeps,
  context: ToolContext,
  times: LoopTimes,
): Promise<Ending | undefined> {
  const { conversation, maxTurns, validToolNames } = input;
  const progress = { reply, apiCalls: conversation.apiCalls, maxTurns, validToolNames };
  const early = firstEnding(BEFORE_TOOLS, progress);
  for (const call of reply.message.toolCalls) {
    // Every call gets its result, so that the stored conversation is well formed.
    const result =
      early === undefined
        ? await timed(times, 'toolMs', deps.clock, () => callTool(call, input.tools, context))
        : toolError(unrun(call, validToolNames));
    const shown = deps.redact(result);
    addToolResult(conversation, call, shown);
    deps.onToolResult(call, shown);
  }
  return early ?? firstEnding(AFTER_TOOLS, progress);
}

function unrun(call: ToolCall, validToolNames: ReadonlySet<string>): string {
  return validToolNames.has(call.name) ? 'not run' : `there is no tool ${call.name.slice(0, 100)}`;
}

async function timed<T>(
  times: LoopTimes,
  key: keyof LoopTimes,
  clock: Clock,
  work: () => Promise<T>,
): Promise<T> {
  const from = clock.monotonic();
  try {
    return await work();
  } finally {
    times[key] += clock.monotonic() - from;
  }
}

/** What an error in the middle of a conversation means for its prompt. */
function endingOf(
  error: unknown,
  { apiCalls }: Conversation,
  timeoutMs: number,
  redact: (text: string) => string,
): Ending {
  const reason = redact(error instanceof Error ? error.message : String(error));
  if (error instanceof OutOfTime) {
    const limit = `${timeoutMs / 1000} s`;
    return apiCalls > 0
      ? { outcome: 'partial/time', reason: `no answer within ${limit}` }
      : { outcome: 'failed/model_error', reason: `the model gave no reply within ${limit}` };
  }
  if (error instanceof ModelError) {
    // A limit makes a sample only of a conversation in which something was paid for.
    return error.outcome === 'partial/context' && apiCalls === 0
      ? { outcome: 'failed/model_error', reason }
      : { outcome: error.outcome, reason };
  }
  if (error instanceof SandboxLostError) return { outcome: 'failed/sandbox_lost', reason };
  if (error instanceof ToolCrashError) return { outcome: 'failed/tool_crash', reason };
  return { outcome: 'failed/internal', reason };
}
