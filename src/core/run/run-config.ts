import { z } from 'zod';
import { type FlagMeta, flag, flagMeta } from './flag-meta.ts';

const text = z.string().min(1);
const names = z.array(text);
const whole = z.int();
const yesNo = z.boolean();

export const RUN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/**
 * Every setting of a run, under the name that flag, `run.json` key and documentation share. This
 * schema is their only source: types, help, checks and the stored config derive from it.
 */
export const runConfigSchema = z.strictObject({
  dataset_file: flag(text, {
    group: 'Required',
    value: 'path',
    help: 'JSONL of prompts; .gz is fine, - is standard input',
  }),
  batch_size: flag(whole.min(1).max(1_000_000), {
    group: 'Required',
    value: 'n',
    help: 'prompts in a batch: the unit of batch_N.jsonl and of the checkpoint',
  }),
  run_name: flag(z.string().regex(RUN_NAME), {
    group: 'Required',
    value: 'name',
    help: 'names the run and its folder: a letter or digit, then up to 62 of A-Z a-z 0-9 . _ -',
  }),

  model: flag(text.default('anthropic/claude-sonnet-4.6'), {
    group: 'Model',
    value: 'name',
    frozen: true,
    help: 'model name as the endpoint knows it; "rehearsal" needs no key and no network',
  }),
  base_url: flag(z.url({ protocol: /^https?$/ }).default('https://openrouter.ai/api/v1'), {
    group: 'Model',
    value: 'url',
    help: 'any OpenAI-compatible endpoint',
  }),
  api_key: flag(text.optional(), {
    group: 'Model',
    value: 'key',
    commandLineOnly: true,
    help: 'key of the endpoint; better by OPENROUTER_API_KEY or OPENAI_API_KEY, which stay out of the process list',
  }),
  max_tokens: flag(whole.min(1).optional(), {
    group: 'Model',
    value: 'n',
    help: 'most tokens of one reply',
  }),
  reasoning_effort: flag(
    z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra']).optional(),
    { group: 'Model', help: 'how much the model shall think (OpenRouter)' },
  ),
  reasoning_disabled: flag(yesNo.default(false), {
    group: 'Model',
    help: 'ask for no thinking at all (OpenRouter); usually with --keep_without_reasoning',
  }),
  providers_allowed: flag(names.default([]), {
    group: 'Model',
    value: 'a,b',
    help: 'only these providers (OpenRouter)',
  }),
  providers_ignored: flag(names.default([]), {
    group: 'Model',
    value: 'a,b',
    help: 'never these providers (OpenRouter)',
  }),
  providers_order: flag(names.default([]), {
    group: 'Model',
    value: 'a,b',
    help: 'providers to try, in this order (OpenRouter)',
  }),
  provider_sort: flag(z.enum(['price', 'throughput', 'latency']).optional(), {
    group: 'Model',
    help: 'choose the provider by this (OpenRouter)',
  }),
  extra_body: flag(z.record(z.string(), z.json()).optional(), {
    group: 'Model',
    value: 'json',
    help: 'JSON object merged into every request body, whatever the endpoint',
  }),
  request_timeout: flag(z.number().positive().max(86_400).default(600), {
    group: 'Model',
    value: 'seconds',
    help: 'time limit of one model request',
  }),

  distribution: flag(text.default('default'), {
    group: 'Agent',
    value: 'name',
    frozen: true,
    help: 'toolset distribution each prompt draws from; see list-distributions',
  }),
  toolsets: flag(names.min(1).optional(), {
    group: 'Agent',
    value: 'a,b',
    frozen: true,
    help: 'a fixed set of toolsets for every prompt instead of a draw',
  }),
  distributions_file: flag(text.optional(), {
    group: 'Agent',
    value: 'path',
    help: 'JSON file of further distributions: {"name": {"toolsets": {"terminal": 100}}}',
  }),
  max_turns: flag(whole.min(1).max(10_000).default(10), {
    group: 'Agent',
    value: 'n',
    help: 'most model calls for a prompt',
  }),
  timeout: flag(z.number().positive().max(604_800).default(1800), {
    group: 'Agent',
    value: 'seconds',
    help: 'time limit of one prompt',
  }),
  ephemeral_system_prompt: flag(text.optional(), {
    group: 'Agent',
    value: 'text',
    frozen: true,
    help: 'system prompt that is sent but never written to a row, log or ledger',
  }),
  prefill_messages_file: flag(text.optional(), {
    group: 'Agent',
    value: 'path',
    help: 'JSON array of {"role", "content"} sent before the prompt, never written',
  }),

  sandbox: flag(z.enum(['process', 'docker']).default('process'), {
    group: 'Sandbox',
    help: 'where rows without an image run: a folder on this machine, or a container of default_image; the same in every pass',
  }),
  default_image: flag(text.optional(), {
    group: 'Sandbox',
    value: 'image',
    frozen: true,
    help: 'image of the rows that name none, with --sandbox docker',
  }),
  sandbox_network: flag(z.enum(['none', 'bridge', 'host']).default('bridge'), {
    group: 'Sandbox',
    help: 'network of containers; bridge reaches outside, and no other sandbox',
  }),
  sandbox_memory: flag(whole.min(16).default(8192), {
    group: 'Sandbox',
    value: 'MiB',
    help: 'most memory of a container',
  }),
  sandbox_disk: flag(whole.min(64).default(8192), {
    group: 'Sandbox',
    value: 'MiB',
    help: "most that a container writes to its disk, one file or all; by Docker's quota, or watched",
  }),
  sandbox_cpus: flag(z.number().positive().optional(), {
    group: 'Sandbox',
    value: 'n',
    help: 'most processors of a container, in whole or part',
  }),
  sandbox_pids: flag(whole.min(16).max(4_000_000).default(2048), {
    group: 'Sandbox',
    value: 'n',
    help: 'most processes and threads of a container',
  }),

  num_workers: flag(whole.min(1).max(10_000).default(4), {
    group: 'Run',
    value: 'n',
    help: 'prompts in flight, over all batches',
  }),
  max_samples: flag(whole.min(1).optional(), {
    group: 'Run',
    value: 'n',
    help: 'only the first n rows of the dataset',
  }),
  samples_per_prompt: flag(whole.min(1).max(10_000).default(1), {
    group: 'Run',
    value: 'n',
    help: 'trajectories of each row',
  }),
  seed: flag(whole.min(0).default(0), {
    group: 'Run',
    value: 'n',
    frozen: true,
    help: 'seed of the toolset draws: the same seed and prompt draw the same toolsets',
  }),
  max_attempts: flag(whole.min(1).max(100).default(3), {
    group: 'Run',
    value: 'n',
    help: 'tries of a prompt in one pass when infrastructure or the model fails',
  }),
  max_cost_usd: flag(z.number().positive().optional(), {
    group: 'Run',
    value: 'usd',
    help: 'stop the run once it has cost this much; needs an endpoint that reports cost',
  }),
  max_total_tokens: flag(whole.min(1).optional(), {
    group: 'Run',
    value: 'n',
    help: 'stop the run once it has used this many tokens',
  }),
  keep_without_reasoning: flag(yesNo.default(false), {
    group: 'Run',
    help: 'keep trajectories in which the model shows no reasoning',
  }),
  strict: flag(yesNo.default(false), {
    group: 'Run',
    help: 'refuse a dataset with any bad line instead of skipping the line',
  }),
  resume: flag(yesNo.default(false), {
    group: 'Run',
    commandLineOnly: true,
    help: 'go on with a run that has results: nothing finished is bought again',
  }),

  output_dir: flag(text.default('data'), {
    group: 'Output',
    value: 'path',
    help: 'folder that holds the folder of each run',
  }),
  verbose: flag(yesNo.default(false), {
    group: 'Output',
    commandLineOnly: true,
    help: 'a log line for each step of each prompt',
  }),
  log_prefix_chars: flag(whole.min(0).max(100_000).default(100), {
    group: 'Output',
    value: 'n',
    help: 'characters of each text that verbose logs show',
  }),
  json: flag(yesNo.default(false), {
    group: 'Output',
    commandLineOnly: true,
    help: 'print the result as one JSON object on standard output; an error as {"error": text}',
  }),
});

/** A complete run config: every default filled in. */
export type RunConfig = z.infer<typeof runConfigSchema>;
export type RunConfigKey = keyof RunConfig;

export const RUN_CONFIG_KEYS = Object.keys(runConfigSchema.shape) as RunConfigKey[];

/** The description of a setting. */
export function metaOf(key: RunConfigKey): FlagMeta {
  const meta = flagMeta.get(runConfigSchema.shape[key]);
  if (meta === undefined) throw new Error(`the setting ${key} has no description`);
  return meta;
}
