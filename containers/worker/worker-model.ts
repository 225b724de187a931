import { createOpenAiModel } from '../../src/adapters/openai/openai-model.ts';
import { openAiOptionsOf } from '../../src/adapters/openai/run-options.ts';
import { createRehearsalModel } from '../../src/adapters/scripted/rehearsal-model.ts';
import { keyForHost, parseModelKeys } from '../../src/core/cloud/model-keys.ts';
import type { Clock } from '../../src/core/ports/clock.ts';
import type { Model } from '../../src/core/ports/model.ts';
import type { Manifest } from '../../src/core/run/manifest.ts';
import type { PrivateSettings } from '../../src/core/run/private-settings.ts';
import type { RunConfig } from '../../src/core/run/run-config.ts';

export interface WorkerModelDeps {
  config: RunConfig;
  manifest: Manifest;
  secret: PrivateSettings;
  modelKeys: string;
  concurrency: number;
  clock: Clock;
  random(): number;
}

export interface OpenedModel {
  model: Model;
  /** Every key there is, used or not. */
  secrets: string[];
  close(): Promise<void>;
}

/**
 * The model that a run asks, with the key of its endpoint's host, or without one where there is none.
 * Throws for a URL or a key that can't be sent.
 */
export function openWorkerModel(deps: WorkerModelDeps): OpenedModel {
  const { config, clock, random } = deps;
  const keys = parseModelKeys(deps.modelKeys);
  const secrets = Object.values(keys);
  if (deps.manifest.rehearsal) {
    return { model: createRehearsalModel({ clock }), secrets, close: async () => undefined };
  }
  const apiKey = keyForHost(keys, config.base_url);
  const options = openAiOptionsOf({ ...deps, apiKey, maxConnections: deps.concurrency });
  const model = createOpenAiModel(options, { clock, random });
  return { model, secrets, close: () => model.close() };
}
