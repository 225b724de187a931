import type { ModelMessage } from '../../core/ports/model.ts';

/** What a run asks of its model. Lists are empty and texts absent where nothing is asked. */
export interface OpenAiModelOptions {
  /** Of any OpenAI-compatible server, up to but without `/chat/completions`. */
  baseUrl: string;
  /** Without one no Authorization header is sent. */
  apiKey?: string | undefined;
  model: string;
  maxTokens?: number | undefined;
  providersAllowed: readonly string[];
  providersIgnored: readonly string[];
  providersOrder: readonly string[];
  providerSort?: string | undefined;
  reasoningEffort?: string | undefined;
  reasoningDisabled: boolean;
  /** Further keys of the request body; they win over every flag but `BODY_KEYS_OF_THE_RUN`. */
  extraBody?: Record<string, unknown> | undefined;
  /** Sent as the first system message, written nowhere. */
  ephemeralSystemPrompt?: string | undefined;
  /** Sent before the conversation, written nowhere. */
  prefillMessages?: readonly ModelMessage[] | undefined;
  /** Connections kept open at most; as many as calls that may be in flight. */
  maxConnections: number;
  /** Milliseconds for one try, from sending to the last byte of the answer. */
  requestTimeoutMs: number;
}

/** Keys that are not the user's to set through `extraBody`: the core rests on them. */
export const BODY_KEYS_OF_THE_RUN = ['model', 'messages', 'tools', 'stream'] as const;

/** Whether the host takes OpenRouter's own `provider` and `reasoning` fields. */
export function isOpenRouter(baseUrl: string): boolean {
  const host = new URL(baseUrl).hostname;
  return host === 'openrouter.ai' || host.endsWith('.openrouter.ai');
}

/** Whether `key` (`provider` or `reasoning`) may stand in the body sent to this host. */
export function takesField(options: OpenAiModelOptions, key: 'provider' | 'reasoning'): boolean {
  return isOpenRouter(options.baseUrl) || Object.hasOwn(options.extraBody ?? {}, key);
}
