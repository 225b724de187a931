import { ignoredOptions } from '../../adapters/openai/ignored-options.ts';
import { createOpenAiModel } from '../../adapters/openai/openai-model.ts';
import type { OpenAiModelOptions } from '../../adapters/openai/openai-options.ts';
import { createRehearsalModel } from '../../adapters/scripted/rehearsal-model.ts';
import type { Model } from '../../core/ports/model.ts';
import { UsageError } from '../usage-error.ts';
import type { Wiring } from '../wiring.ts';
import { prefillMessages } from './prefill.ts';
import type { RunPlan } from './run-plan.ts';

export interface OpenModel {
  model: Model;
  /** Flags given that have no effect at this endpoint. */
  ignoredFlags: string[];
  close(): Promise<void>;
}

/** The model that a run asks. Throws `UsageError` for a URL or key that can't be sent. */
export function openModel(plan: RunPlan, { clock, random }: Wiring): OpenModel {
  if (plan.rehearsal) {
    const model = createRehearsalModel({ clock });
    return { model, ignoredFlags: [], close: async () => undefined };
  }
  const options = optionsOf(plan);
  const model = sendable(() => createOpenAiModel(options, { clock, random }));
  return { model, ignoredFlags: ignoredOptions(options), close: () => model.close() };
}

function sendable<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

function optionsOf({ config, apiKey, secret }: RunPlan): OpenAiModelOptions {
  return {
    baseUrl: config.base_url,
    apiKey,
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
    maxConnections: config.num_workers,
    requestTimeoutMs: config.request_timeout * 1000,
  };
}
