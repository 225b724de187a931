import { createHash } from 'node:crypto';
import type { Clock } from '../../core/ports/clock.ts';
import type {
  AssistantMessage,
  Model,
  ModelMessage,
  ModelReply,
  ModelRequest,
} from '../../core/ports/model.ts';
import { toolSucceeded } from '../../core/trajectory/tool-stats.ts';
import type { ToolCall, Usage } from '../../core/trajectory/trajectory.ts';
import { promptExcerpt } from './prompt-excerpt.ts';
import { rehearsalStory, type StoryStep } from './rehearsal-story.ts';

const LONGEST_STORY = 4;
const CHARACTERS_A_TOKEN = 4;

export interface RehearsalModelDeps {
  clock: Pick<Clock, 'sleep'>;
  /** How long every call takes, in milliseconds; default 0, which does not touch the clock. */
  delayMs?: number;
}

/**
 * A model that plays a short story with the tools it is offered, asking nobody: no key, no
 * network, no cost. Every turn says that it is a rehearsal. A reply is a pure function of the
 * request's messages, tools and promptId. Rejects with the signal's reason once that aborts.
 */
export function createRehearsalModel({ clock, delayMs = 0 }: RehearsalModelDeps): Model {
  return {
    async complete(request) {
      request.signal.throwIfAborted();
      if (delayMs > 0) await clock.sleep(delayMs, request.signal);
      request.signal.throwIfAborted();
      return reply(request);
    },
  };
}

function reply({ promptId, messages, tools }: ModelRequest): ModelReply {
  const digest = createHash('sha256').update(promptId).digest();
  // What stands before the last user message is no work of this conversation: prefill.
  const start = messages.findLastIndex(({ role }) => role === 'user');
  const prompt = messages[start]?.content ?? '';
  const since = messages.slice(start + 1);
  const story = rehearsalStory({
    offered: new Set(tools.map(({ name }) => name)),
    excerpt: promptExcerpt(prompt),
    length: 1 + (digest.readUInt32BE(0) % LONGEST_STORY),
  });
  const turn = since.filter(({ role }) => role === 'assistant').length;
  const step = story[turn];
  const message =
    step === undefined
      ? answer(since, promptExcerpt(prompt))
      : play(step, `${turn + 1} of ${story.length + 1}`, callIds(digest, turn));
  return {
    message,
    finish: step === undefined ? 'stop' : 'tool_calls',
    usage: usageOf(messages, message),
  };
}

function play(step: StoryStep, position: string, callId: (index: number) => string) {
  const toolCalls = step.calls.map(
    ({ name, args }, index): ToolCall => ({
      id: callId(index),
      name,
      arguments: JSON.stringify(args),
    }),
  );
  const names = toolCalls.map(({ name }) => name).join(' and ');
  return assistant(
    `Rehearsal: ${step.purpose}`,
    `This is a rehearsal, turn ${position}; no model is thinking. The script goes on with ${names}.`,
    toolCalls,
  );
}

function answer(since: readonly ModelMessage[], excerpt: string): AssistantMessage {
  const results = since.filter(({ role }) => role === 'tool');
  const succeeded = results.filter(({ content }) => toolSucceeded(content)).length;
  return assistant(
    'This is a rehearsal: no model was asked, so this is no answer to the prompt. ' +
      `Tool calls made: ${results.length}, of which succeeded: ${succeeded}. ` +
      `The prompt began: "${excerpt}"`,
    'This is a rehearsal; no model is thinking. The script is at its end and reports.',
    [],
  );
}

function assistant(content: string, reasoning: string, toolCalls: ToolCall[]): AssistantMessage {
  return { role: 'assistant', content, reasoning, toolCalls };
}

function callIds(digest: Buffer, turn: number): (index: number) => string {
  const conversation = digest.toString('hex', 0, 4);
  return (index) => `rehearsal_${conversation}_${turn}_${index}`;
}

/** Plausible counts, by length: real ones would need a tokenizer, and a model. */
function usageOf(messages: readonly ModelMessage[], message: AssistantMessage): Usage {
  const promptTokens = tokens(messages.reduce((sum, one) => sum + lengthOf(one), 0));
  const completionTokens = tokens(lengthOf(message));
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    reasoning_tokens: tokens(message.reasoning.length),
    cached_tokens: 0,
    cost_usd: 0,
  };
}

function lengthOf(message: ModelMessage): number {
  if (message.role !== 'assistant') return message.content.length;
  const calls = message.toolCalls.reduce(
    (sum, { name, arguments: args }) => sum + name.length + args.length,
    0,
  );
  return message.content.length + message.reasoning.length + calls;
}

function tokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_A_TOKEN);
}
