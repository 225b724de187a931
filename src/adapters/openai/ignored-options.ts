import { BODY_KEYS_OF_THE_RUN, type OpenAiModelOptions, takesField } from './openai-options.ts';

/** Flags that were given but have no effect at this host, by their command-line names. */
export function ignoredOptions(options: OpenAiModelOptions): string[] {
  const provider = {
    providers_allowed: options.providersAllowed.length > 0,
    providers_ignored: options.providersIgnored.length > 0,
    providers_order: options.providersOrder.length > 0,
    provider_sort: options.providerSort !== undefined,
  };
  const reasoning = {
    reasoning_effort: options.reasoningEffort !== undefined,
    reasoning_disabled: options.reasoningDisabled,
  };
  const taken = BODY_KEYS_OF_THE_RUN.filter((key) => Object.hasOwn(options.extraBody ?? {}, key));
  return [
    ...(takesField(options, 'provider') ? [] : given(provider)),
    ...(takesField(options, 'reasoning') ? [] : given(reasoning)),
    ...taken.map((key) => `extra_body.${key}`),
  ];
}

function given(flags: Record<string, boolean>): string[] {
  return Object.keys(flags).filter((name) => flags[name]);
}
