import { cloudRunConfig } from '../../core/cloud/cloud-config.ts';
import { CLOUD_USES, type CloudUse, REFUSED_WORDS } from '../../core/cloud/cloud-flags.ts';
import { createManifest, privateHashes } from '../../core/run/create-manifest.ts';
import { ConfigError } from '../../core/run/flag-values.ts';
import { assertSameRun, type RunFile } from '../../core/run/manifest.ts';
import type { PrivateSettings } from '../../core/run/private-settings.ts';
import { RUN_CONFIG_KEYS, type RunConfig, type RunConfigKey } from '../../core/run/run-config.ts';
import { BUILTIN_TOOLS } from '../../core/tools/builtin-tools.ts';
import { chooseToolsets } from '../../core/toolsets/choose-toolsets.ts';
import { readPrefill } from '../local-run/prefill.ts';
import { readConfigFile, resolveSettings } from '../local-run/run-settings.ts';
import { readDistributions } from '../local-run/toolset-choice.ts';
import type { Wiring } from '../wiring.ts';

/** What goes to the bucket before the dataset, checked as the stack's starter will check it. */
export interface Submission {
  config: RunConfig;
  /** The text of `run.json`: what was given, and no more, so that all else stays as the run has it. */
  runJson: string;
  secret: PrivateSettings;
  /** Toolsets that prompts may draw. */
  toolsets: string[];
  /** What people are told that is otherwise than they asked for. */
  notices: string[];
}

export interface GivenSettings {
  flags: Record<string, unknown>;
  file: Record<string, unknown>;
  filePath: string | undefined;
}

/** Flags and config file of a submission. Throws `ConfigError` for what the cloud refuses. */
export async function givenForCloud(
  flags: Record<string, unknown>,
  configPath: string | undefined,
): Promise<GivenSettings> {
  const file = configPath === undefined ? {} : await readConfigFile(configPath);
  for (const key of keysOf('refused')) {
    const where = key in flags ? `--${key}` : `${key} in ${configPath}`;
    if (flags[key] == null && file[key] == null) continue;
    throw new ConfigError(`${where} is refused in the cloud: ${REFUSED_WORDS[key]}`);
  }
  return { flags, file, filePath: configPath };
}

/**
 * Settles a submission on a run as it is `stored`, or on a new one. Reads the files that settings
 * name. Throws `UsageError`, `ConfigError`, `FrozenSettingError` and `DistributionUnavailableError`.
 */
export async function planSubmission(
  given: GivenSettings,
  stored: RunFile | undefined,
  uploadName: string,
  wiring: Wiring,
): Promise<Submission> {
  const config = resolveSettings({ ...given, stored });
  const settings: Record<string, unknown> = { ...given.file, ...given.flags };
  const runJson = await runJsonOf(settings);
  const secret = await privateOf(settings);
  const cloud = cloudRunConfig({
    runName: config.run_name,
    file: uploadName,
    given: runJson,
    standard: '{}',
    stored,
  });
  const toolsets = chooseToolsets(cloud.config, {
    tools: BUILTIN_TOOLS,
    sha256Hex: wiring.sha256Hex,
    frozen: cloud.frozen,
    own: cloud.distributions,
    source: (key) => `--${key}`,
  });
  if (stored !== undefined) {
    const manifest = createManifest({
      config: cloud.config,
      toolsets,
      hashes: hashesOf(secret, stored, wiring.sha256Hex),
      talaria: wiring.version,
      node: wiring.nodeVersion,
      now: wiring.clock.now(),
    });
    assertSameRun(stored, cloud.config, manifest);
  }
  return {
    config: cloud.config,
    runJson,
    secret,
    toolsets: toolsets.available,
    notices: [...cloud.notices, ...withoutEffect(settings)],
  };
}

function keysOf(...uses: CloudUse[]): RunConfigKey[] {
  return RUN_CONFIG_KEYS.filter((key) => uses.includes(CLOUD_USES[key]));
}

async function runJsonOf(settings: Record<string, unknown>): Promise<string> {
  const sent = Object.fromEntries(
    keysOf('sent').flatMap((key) => (key in settings ? [[key, settings[key]]] : [])),
  );
  const { distributions_file: path } = settings;
  const own = typeof path === 'string' ? await readDistributions(path) : undefined;
  const distributions = own?.map(({ name, ...distribution }) => [name, distribution]);
  return `${JSON.stringify(
    { ...sent, ...(distributions && { distributions: Object.fromEntries(distributions) }) },
    null,
    2,
  )}\n`;
}

async function privateOf(settings: Record<string, unknown>): Promise<PrivateSettings> {
  const { ephemeral_system_prompt: prompt, prefill_messages_file: path } = settings;
  return {
    ...(typeof prompt === 'string' && { ephemeral_system_prompt: prompt }),
    ...(typeof path === 'string' && { prefill_messages: await readPrefill(path) }),
  };
}

/** What is not given stays as it was; only its hash is known here. */
function hashesOf(secret: PrivateSettings, { manifest }: RunFile, sha256Hex: Wiring['sha256Hex']) {
  const given = privateHashes(secret, sha256Hex);
  return {
    ephemeral_system_prompt_sha256:
      given.ephemeral_system_prompt_sha256 || manifest.ephemeral_system_prompt_sha256,
    prefill_messages_sha256: given.prefill_messages_sha256 || manifest.prefill_messages_sha256,
  };
}

const LOCAL_WORDS: Readonly<Partial<Record<RunConfigKey, string>>> = {
  resume: 'each submission of a run goes on with it, nothing finished is bought again',
  output_dir: 'talaria download takes it',
};

/** A line for each setting given that the cloud has no use for. `json` is this command's own. */
function withoutEffect(settings: Record<string, unknown>): string[] {
  const local = keysOf('local').filter((key) => key in settings && key !== 'json');
  const lines = local.map(
    (key) =>
      `--${key} has no effect in the cloud${LOCAL_WORDS[key] ? `: ${LOCAL_WORDS[key]}` : ''}`,
  );
  return settings['sandbox'] === 'process'
    ? [...lines, '--sandbox has no effect in the cloud: every prompt runs in a container']
    : lines;
}
