import { type PrivateSettings, prefillMessages } from '../../core/run/private-settings.ts';
import type { RunConfig } from '../../core/run/run-config.ts';
import type { OpenAiModelOptions } from './openai-options.ts';

/** What a run with these settings asks of its model. */
export function openAiOptionsOf(of: {
  config: RunConfig;
  /** Without one no Authorization header is sent. */
  apiKey: string | undefined;
  secret: PrivateSettings;
  /** Calls that may be in flight. */
  maxConnections: number;
}): OpenAiModelOptions {
  const { config, secret } = of;
  return {
    baseUrl: config.base_url,
    apiKey: of.apiKey,
    model: config.model,
    maxTokens: config.max_tokens,
    providersAllowed: config.providers_allowed,
    providersIgnored: config.providers_ignored,
    providersOrder: config.providers_order,
    providerSort: config.provider_sort,
    reasoningEffort: config.reasoning_effort,
    reasoningDisabled: config.reasoning_disabled,
    extraBody: config.extra_body,
    ephemeralSystemPrompt: secret.ephemeral_system_prompt,
    prefillMessages: prefillMessages(secret.prefill_messages ?? []),
    maxConnections: of.maxConnections,
    requestTimeoutMs: config.request_timeout * 1000,
  };
}
