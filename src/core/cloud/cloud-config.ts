import { ConfigError, parseRunConfig } from '../run/flag-values.ts';
import { manifestSchema, RUN_FILE_ONLY_KEYS, type RunFile } from '../run/manifest.ts';
import { RUN_CONFIG_KEYS, type RunConfig } from '../run/run-config.ts';
import { type Distribution, distributionsFileSchema } from '../toolsets/distribution.ts';
import { MAX_CLOUD_BATCH } from './batch-record.ts';
import { CLOUD_USES, REFUSED_WORDS } from './cloud-flags.ts';

export interface CloudConfigSources {
  runName: string;
  /** Name of the uploaded dataset's file. */
  file: string;
  /** The text of `run.json` beside the dataset, where there is one. */
  given: string | undefined;
  /** The stack's default config as JSON: of new runs without `run.json`. */
  standard: string;
  /** The run's own `run.json`: what is not given stays as it was. */
  stored: RunFile | undefined;
}

export interface CloudConfig {
  config: RunConfig;
  /** Prompts of one batch here. */
  batchSize: number;
  /** Distributions that came with the settings. */
  distributions: Distribution[];
  /** The distribution that the run has had, or that a run's own `run.json` names. */
  frozen: Pick<Distribution, 'name' | 'toolsets'> | undefined;
  /** Settings that name files of the machine they came from, which are not there. */
  missingFiles: 'prefill_messages_file'[];
  /** What people are told that was changed. */
  notices: string[];
}

/** Settings of a pass in the cloud. Throws `ConfigError` naming the key and where it stands. */
export function cloudRunConfig(sources: CloudConfigSources): CloudConfig {
  const { given, stored, standard } = sources;
  const where = given === undefined ? 'the default config of the stack' : 'run.json';
  const file = parseSettings(given ?? (stored === undefined ? standard : '{}'), where);
  const { distributions, ...settings } = file;
  const own = manifestSchema.safeParse(settings['manifest']);
  for (const key of RUN_FILE_ONLY_KEYS) delete settings[key];
  const hasPrefill = typeof settings['prefill_messages_file'] === 'string';
  for (const key of RUN_CONFIG_KEYS) sift(key, settings, where);
  const { manifest, passes: _passes, ...before } = stored ?? { manifest: undefined, passes: [] };
  const config = parseRunConfig(
    {
      ...before,
      ...settings,
      run_name: sources.runName,
      dataset_file: sources.file,
      sandbox: 'docker',
    },
    (key) => `${key} in ${where}`,
  );
  refuseLogin(config, where);
  const batchSize = Math.min(config.batch_size, MAX_CLOUD_BATCH);
  const named = own.success ? own.data.distribution : undefined;
  return {
    config,
    batchSize,
    distributions: distributionsOf(distributions, where),
    frozen: distributions === undefined ? (manifest?.distribution ?? named) : undefined,
    missingFiles: hasPrefill ? ['prefill_messages_file'] : [],
    notices:
      batchSize === config.batch_size
        ? []
        : [
            `batch_size ${config.batch_size} is lowered to ${batchSize}: a task has no more sandboxes`,
          ],
  };
}

function parseSettings(text: string, where: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    // Not the parser's own words: they quote the text, in which a secret may stand.
    throw new ConfigError(`${where}: expected JSON, got text that is not`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigError(`${where}: expected a JSON object of settings`);
  }
  return { ...value };
}

/** Takes out what has no effect here; throws for what must not be here. */
function sift(
  key: (typeof RUN_CONFIG_KEYS)[number],
  settings: Record<string, unknown>,
  where: string,
): void {
  const value = settings[key];
  if (value === undefined || value === null) return;
  const words = REFUSED_WORDS[key];
  if (words !== undefined) throw new ConfigError(`${key} in ${where} is refused: ${words}`);
  if (CLOUD_USES[key] !== 'sent') delete settings[key];
}

function refuseLogin({ base_url: baseUrl }: RunConfig, where: string): void {
  const { username, password } = new URL(baseUrl);
  if (username === '' && password === '') return;
  throw new ConfigError(
    `base_url in ${where}: expected no user or password in it; talaria secrets set takes a key`,
  );
}

function distributionsOf(value: unknown, where: string): Distribution[] {
  if (value === undefined) return [];
  const parsed = distributionsFileSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ConfigError(
    `distributions in ${where}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not as expected'}`,
  );
}
