import { ignoredOptions } from '../../adapters/openai/ignored-options.ts';
import { createOpenAiModel } from '../../adapters/openai/openai-model.ts';
import { openAiOptionsOf } from '../../adapters/openai/run-options.ts';
import { createRehearsalModel } from '../../adapters/scripted/rehearsal-model.ts';
import type { Model } from '../../core/ports/model.ts';
import { UsageError } from '../usage-error.ts';
import type { Wiring } from '../wiring.ts';
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
  const options = openAiOptionsOf({ ...plan, maxConnections: plan.config.num_workers });
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
