import type { RunConfig } from '../../core/run/run-config.ts';
import type { Tool } from '../../core/tools/tool.ts';
import { type Distribution, distributionsFileSchema } from '../../core/toolsets/distribution.ts';
import { DISTRIBUTIONS } from '../../core/toolsets/distributions.ts';
import { DistributionUnavailableError, drawToolsets } from '../../core/toolsets/draw-toolsets.ts';
import { isToolsetName, TOOLSET_NAMES } from '../../core/toolsets/registry.ts';
import { builtTools, createToolsOf } from '../../core/toolsets/toolset-tools.ts';
import { UsageError } from '../usage-error.ts';
import { readJsonFile } from './json-file.ts';

/** The distributions of a file. Throws `UsageError`. */
export async function readDistributions(path: string): Promise<Distribution[]> {
  return await readJsonFile('--distributions_file', path, distributionsFileSchema);
}

/** How prompts of a run come to their toolsets. */
export interface ToolsetChoice {
  /** What rows and statistics name; the fixed set has "" and no percentages. */
  distribution: Distribution;
  /** Toolsets of the choice that work here. */
  available: string[];
  /** Toolsets of the choice that are left out, with the reason. */
  leftOut: { toolset: string; reason: string }[];
  draw(promptId: string): string[];
  /** The built tools of these toolsets, by name. */
  toolsOf(toolsets: readonly string[]): ReadonlyMap<string, Tool>;
}

export interface ToolsetDeps {
  /** Every tool that is built, by name. */
  tools: Readonly<Record<string, Tool>>;
  sha256Hex(text: string): string;
  /** The distribution that a resumed run has had so far; its file may be gone. */
  frozen?: Pick<Distribution, 'name' | 'toolsets'> | undefined;
}

/** Settles the toolsets of a run. Throws `UsageError` or `DistributionUnavailableError`. */
export async function chooseToolsets(config: RunConfig, deps: ToolsetDeps): Promise<ToolsetChoice> {
  const distribution =
    config.toolsets === undefined
      ? await namedDistribution(config, deps.frozen)
      : { name: '', description: 'a fixed set', toolsets: fixedSet(config.toolsets) };
  const names = Object.keys(distribution.toolsets);
  const available = names.filter((name) => builtTools(name, deps.tools).length > 0);
  const leftOut = names
    .filter((name) => !available.includes(name))
    .map((toolset) => ({ toolset, reason: 'not built yet' }));
  const availableSet: ReadonlySet<string> = new Set(available);
  if (available.length === 0) throw new DistributionUnavailableError(distribution, availableSet);
  if (config.toolsets !== undefined && leftOut.length > 0) {
    const missing = leftOut.map((of) => `${of.toolset} (${of.reason})`).join(', ');
    throw new UsageError(`--toolsets: these do not work here: ${missing}`);
  }
  return {
    distribution,
    available,
    leftOut,
    draw: (promptId) =>
      drawToolsets({
        distribution,
        available: availableSet,
        seed: config.seed,
        promptId,
        sha256Hex: deps.sha256Hex,
      }),
    toolsOf: createToolsOf(deps.tools),
  };
}

function fixedSet(toolsets: readonly string[]): Record<string, number> {
  const unknown = toolsets.filter((name) => !isToolsetName(name));
  if (unknown.length > 0) {
    throw new UsageError(
      `--toolsets: expected names of ${TOOLSET_NAMES.join(', ')}, got ${unknown.join(', ')}`,
    );
  }
  return Object.fromEntries(toolsets.map((name) => [name, 100]));
}

async function namedDistribution(
  config: RunConfig,
  frozen: ToolsetDeps['frozen'],
): Promise<Distribution> {
  if (frozen?.name === config.distribution) return { description: '', ...frozen };
  const own =
    config.distributions_file === undefined
      ? []
      : await readDistributions(config.distributions_file);
  const all = [...own, ...DISTRIBUTIONS];
  const found = all.find(({ name }) => name === config.distribution);
  if (found !== undefined) return found;
  throw new UsageError(
    `--distribution: expected one of ${all.map(({ name }) => name).join(', ')}, got ${JSON.stringify(config.distribution)}`,
  );
}
