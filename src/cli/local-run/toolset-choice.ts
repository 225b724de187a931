import type { RunConfig } from '../../core/run/run-config.ts';
import {
  chooseToolsets,
  type ToolsetChoice,
  type ToolsetDeps,
} from '../../core/toolsets/choose-toolsets.ts';
import { type Distribution, distributionsFileSchema } from '../../core/toolsets/distribution.ts';
import { readJsonFile } from './json-file.ts';

/** The distributions of a file. Throws `UsageError`. */
export async function readDistributions(path: string): Promise<Distribution[]> {
  return await readJsonFile('--distributions_file', path, distributionsFileSchema);
}

/**
 * Settles the toolsets of a run on this machine, reading its file of distributions where one is
 * needed. Throws `UsageError`, `ConfigError` or `DistributionUnavailableError`.
 */
export async function chooseLocalToolsets(
  config: RunConfig,
  deps: Omit<ToolsetDeps, 'own' | 'source'>,
): Promise<ToolsetChoice> {
  const { distributions_file: path } = config;
  const isSettled = config.toolsets !== undefined || deps.frozen?.name === config.distribution;
  const own = path === undefined || isSettled ? [] : await readDistributions(path);
  return chooseToolsets(config, { ...deps, own, source: (key) => `--${key}` });
}
