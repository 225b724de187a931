import { readFile } from 'node:fs/promises';
import { ConfigError, parseRunConfig } from '../../core/run/flag-values.ts';
import { RUN_FILE_ONLY_KEYS, type RunFile } from '../../core/run/manifest.ts';
import { metaOf, RUN_CONFIG_KEYS, type RunConfig } from '../../core/run/run-config.ts';
import { UsageError } from '../usage-error.ts';

/** A config file's settings. Throws `UsageError` or `ConfigError`, naming the file. */
export async function readConfigFile(path: string): Promise<Record<string, unknown>> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new UsageError(`--config: can't read ${path}: ${error.message}`, { cause: error });
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--config: ${path} is not JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`--config: ${path}: expected a JSON object of settings`);
  }
  const settings: Record<string, unknown> = { ...value };
  for (const key of RUN_FILE_ONLY_KEYS) delete settings[key];
  for (const key of RUN_CONFIG_KEYS) {
    if (key in settings && metaOf(key).commandLineOnly === true) {
      throw new ConfigError(`${key} in ${path}: this is a flag only, leave it out of the file`);
    }
  }
  return settings;
}

export interface SettingSources {
  flags: Record<string, unknown>;
  /** From `--config`. */
  file: Record<string, unknown>;
  filePath: string | undefined;
  /** The run's own `run.json`, where it is resumed: what is not given stays as it was. */
  stored: RunFile | undefined;
}

/** One run config: a flag wins over the config file, that over what the run had. */
export function resolveSettings(sources: SettingSources): RunConfig {
  const {
    manifest: _manifest,
    passes: _passes,
    ...stored
  } = sources.stored ?? {
    manifest: undefined,
    passes: undefined,
  };
  return parseRunConfig({ ...stored, ...sources.file, ...sources.flags }, (key) =>
    key in sources.flags || !(key in sources.file)
      ? `--${key}`
      : `${key} in ${sources.filePath ?? 'the config file'}`,
  );
}
