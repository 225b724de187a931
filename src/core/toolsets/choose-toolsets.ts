import { ConfigError } from '../run/flag-values.ts';
import type { RunConfig } from '../run/run-config.ts';
import type { Tool } from '../tools/tool.ts';
import type { Distribution } from './distribution.ts';
import { DISTRIBUTIONS } from './distributions.ts';
import { DistributionUnavailableError, drawToolsets } from './draw-toolsets.ts';
import { isToolsetName, TOOLSET_NAMES } from './registry.ts';
import { builtTools, createToolsOf } from './toolset-tools.ts';

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
  /** Distributions beside the built-in ones, and before them. */
  own: readonly Distribution[];
  /** How messages call a setting, e.g. `--toolsets`. */
  source(key: string): string;
}

/** Settles the toolsets of a run. Throws `ConfigError` or `DistributionUnavailableError`. */
export function chooseToolsets(config: RunConfig, deps: ToolsetDeps): ToolsetChoice {
  const distribution =
    config.toolsets === undefined
      ? namedDistribution(config, deps)
      : {
          name: '',
          description: 'a fixed set',
          toolsets: fixedSet(config.toolsets, deps.source('toolsets')),
        };
  const names = Object.keys(distribution.toolsets);
  const available = names.filter((name) => builtTools(name, deps.tools).length > 0);
  const leftOut = names
    .filter((name) => !available.includes(name))
    .map((toolset) => ({ toolset, reason: 'not built yet' }));
  const availableSet: ReadonlySet<string> = new Set(available);
  if (available.length === 0) throw new DistributionUnavailableError(distribution, availableSet);
  if (config.toolsets !== undefined && leftOut.length > 0) {
    const missing = leftOut.map((of) => `${of.toolset} (${of.reason})`).join(', ');
    throw new ConfigError(`${deps.source('toolsets')}: these do not work here: ${missing}`);
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

function fixedSet(toolsets: readonly string[], source: string): Record<string, number> {
  const unknown = toolsets.filter((name) => !isToolsetName(name));
  if (unknown.length > 0) {
    throw new ConfigError(
      `${source}: expected names of ${TOOLSET_NAMES.join(', ')}, got ${unknown.join(', ')}`,
    );
  }
  return Object.fromEntries(toolsets.map((name) => [name, 100]));
}

function namedDistribution(config: RunConfig, { frozen, own, source }: ToolsetDeps): Distribution {
  if (frozen?.name === config.distribution) return { description: '', ...frozen };
  const all = [...own, ...DISTRIBUTIONS];
  const found = all.find(({ name }) => name === config.distribution);
  if (found !== undefined) return found;
  throw new ConfigError(
    `${source('distribution')}: expected one of ${all.map(({ name }) => name).join(', ')}, got ${JSON.stringify(config.distribution)}`,
  );
}
