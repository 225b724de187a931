import type { RunConfigKey } from '../run/run-config.ts';

/**
 * What becomes of a setting in the cloud.
 * `sent`: as locally. `settled`: by the upload itself. `private`: sent in `private.json`.
 * `embedded`: its file's content is sent, as `distributions`. `local`: has no effect there.
 * `refused`: can't be held there.
 */
export type CloudUse = 'sent' | 'settled' | 'private' | 'embedded' | 'local' | 'refused';

export const CLOUD_USES: Readonly<Record<RunConfigKey, CloudUse>> = {
  dataset_file: 'settled',
  batch_size: 'sent',
  run_name: 'settled',
  model: 'sent',
  base_url: 'sent',
  api_key: 'refused',
  max_tokens: 'sent',
  reasoning_effort: 'sent',
  reasoning_disabled: 'sent',
  providers_allowed: 'sent',
  providers_ignored: 'sent',
  providers_order: 'sent',
  provider_sort: 'sent',
  extra_body: 'sent',
  request_timeout: 'sent',
  distribution: 'sent',
  toolsets: 'sent',
  distributions_file: 'embedded',
  max_turns: 'sent',
  timeout: 'sent',
  ephemeral_system_prompt: 'private',
  prefill_messages_file: 'private',
  sandbox: 'settled',
  default_image: 'sent',
  sandbox_network: 'local',
  sandbox_memory: 'local',
  sandbox_disk: 'local',
  sandbox_cpus: 'local',
  sandbox_pids: 'local',
  num_workers: 'sent',
  max_samples: 'sent',
  samples_per_prompt: 'sent',
  seed: 'sent',
  max_attempts: 'sent',
  max_cost_usd: 'refused',
  max_total_tokens: 'refused',
  keep_without_reasoning: 'sent',
  strict: 'sent',
  resume: 'local',
  output_dir: 'local',
  verbose: 'local',
  log_prefix_chars: 'local',
  json: 'local',
};

/** Why a setting is refused, and what to do. */
export const REFUSED_WORDS: Readonly<Partial<Record<RunConfigKey, string>>> = {
  api_key: 'keys of models are in the secret of the stack: talaria secrets set',
  ephemeral_system_prompt: 'it belongs in private.json, beside the dataset and uploaded before it',
  max_cost_usd: 'no limit over all tasks of a run can be held in the cloud yet; leave it out',
  max_total_tokens: 'no limit over all tasks of a run can be held in the cloud yet; leave it out',
};
