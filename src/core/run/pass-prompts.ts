import type { PassRecord } from './manifest.ts';
import { type IndexedRow, type PlannedPrompt, promptsOf } from './plan-batches.ts';

export interface PassPromptsDeps {
  /** The rows that a pass planned from. */
  inputRows(pass: PassRecord): AsyncIterable<IndexedRow>;
  sha256Hex(text: string): string;
}

/** The prompts that a pass planned, done or not. */
export function promptsOfPass(
  pass: PassRecord,
  deps: PassPromptsDeps,
): AsyncGenerator<PlannedPrompt> {
  return promptsOf(deps.inputRows(pass), {
    samplesPerPrompt: pass.samples_per_prompt,
    maxSamples: pass.max_samples ?? undefined,
    sha256Hex: deps.sha256Hex,
  });
}

/** Those of the whole dataset of a pass, whatever `max_samples` it had. */
export function promptsOfDataset(
  pass: PassRecord,
  deps: PassPromptsDeps,
): AsyncGenerator<PlannedPrompt> {
  return promptsOfPass({ ...pass, max_samples: null }, deps);
}

/** One pass of each set of prompts: passes over an unchanged dataset plan the same. */
export function distinctPlans(passes: readonly PassRecord[]): PassRecord[] {
  const byPlan = new Map<string, PassRecord>();
  for (const pass of passes) {
    const { input_of_pass, samples_per_prompt, max_samples } = pass;
    byPlan.set(JSON.stringify([input_of_pass, samples_per_prompt, max_samples]), pass);
  }
  return [...byPlan.values()];
}
