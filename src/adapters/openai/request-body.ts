import type { ModelMessage, ModelRequest, ToolSchema } from '../../core/ports/model.ts';
import { BODY_KEYS_OF_THE_RUN, type OpenAiModelOptions, takesField } from './openai-options.ts';
import type { BodyTraits, Quirks } from './quirks.ts';
import { Replay } from './replay.ts';
import { wellFormedJson } from './well-formed.ts';
import { wireMessage } from './wire-message.ts';

export interface RequestBody {
  json: string;
  traits: BodyTraits;
}

/** The body of one chat completion, as JSON of well-formed Unicode. */
export function buildRequestBody(
  request: Pick<ModelRequest, 'messages' | 'tools'>,
  options: OpenAiModelOptions,
  quirks: Quirks,
): RequestBody {
  const messages = [...hiddenMessages(options), ...request.messages];
  const extra = usersKeys(options.extraBody ?? {});
  const body: Record<string, unknown> = {
    model: options.model,
    messages: messages.map((message) => wireMessage(message, quirks)),
  };
  if (request.tools.length > 0) body['tools'] = request.tools.map(wireTool);
  if (options.maxTokens !== undefined) {
    body[quirks.newTokenLimit ? 'max_completion_tokens' : 'max_tokens'] = options.maxTokens;
  }
  for (const [key, value] of Object.entries(routing(options))) body[key] = value;
  for (const [key, value] of Object.entries(extra)) body[key] = merged(body[key], value);
  return {
    json: wellFormedJson(body),
    traits: { ...messageTraits(messages), hasTokenLimit: options.maxTokens !== undefined },
  };
}

/** The ephemeral prompt and the prefill, in the order in which they are sent. */
export function hiddenMessages(options: OpenAiModelOptions): ModelMessage[] {
  const prompt = options.ephemeralSystemPrompt;
  const first: ModelMessage[] = prompt ? [{ role: 'system', content: prompt }] : [];
  return [...first, ...(options.prefillMessages ?? [])];
}

function wireTool(tool: ToolSchema): Record<string, unknown> {
  const { name, description, parameters } = tool;
  return { type: 'function', function: { name, description, parameters } };
}

/** OpenRouter's `provider` and `reasoning`, each only where something is asked of it. */
function routing(options: OpenAiModelOptions): Record<string, unknown> {
  const provider: Record<string, unknown> = {};
  if (options.providersAllowed.length > 0) provider['only'] = options.providersAllowed;
  if (options.providersIgnored.length > 0) provider['ignore'] = options.providersIgnored;
  if (options.providersOrder.length > 0) provider['order'] = options.providersOrder;
  if (options.providerSort !== undefined) provider['sort'] = options.providerSort;
  const fields: Record<string, unknown> = {};
  if (takesField(options, 'provider') && Object.keys(provider).length > 0) {
    fields['provider'] = provider;
  }
  if (takesField(options, 'reasoning')) {
    if (options.reasoningDisabled) fields['reasoning'] = { enabled: false };
    else if (options.reasoningEffort !== undefined) {
      fields['reasoning'] = { effort: options.reasoningEffort };
    }
  }
  return fields;
}

function usersKeys(extraBody: Record<string, unknown>): Record<string, unknown> {
  const taken: readonly string[] = BODY_KEYS_OF_THE_RUN;
  return Object.fromEntries(Object.entries(extraBody).filter(([key]) => !taken.includes(key)));
}

/** One level deep, so that `provider: {data_collection}` does not undo `providers_order`. */
function merged(ours: unknown, theirs: unknown): unknown {
  return isObject(ours) && isObject(theirs) ? { ...ours, ...theirs } : theirs;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function messageTraits(messages: readonly ModelMessage[]): Omit<BodyTraits, 'hasTokenLimit'> {
  let hasEmptyContent = false;
  let hasThinking = false;
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    const replay = message.replay instanceof Replay ? message.replay : undefined;
    const content = replay?.content ?? message.content;
    hasEmptyContent ||= message.toolCalls.length > 0 && content === '';
    hasThinking ||= replay !== undefined && Object.keys(replay.thinking).length > 0;
  }
  return { hasEmptyContent, hasThinking };
}
