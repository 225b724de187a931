import type { RunConfig } from '../run/run-config.ts';
import type { PromptSettings } from './run-prompt.ts';

/** What is the same for every prompt of a run with this config. */
export function promptSettings(
  config: RunConfig,
  validToolNames: readonly string[],
): PromptSettings {
  return {
    runName: config.run_name,
    model: config.model,
    maxTurns: config.max_turns,
    timeoutMs: config.timeout * 1000,
    keepWithoutReasoning: config.keep_without_reasoning,
    validToolNames: new Set(validToolNames),
  };
}
