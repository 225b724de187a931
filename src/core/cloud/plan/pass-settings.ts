import type { PassFiles, StoredText } from '../../ports/pass-files.ts';
import { createManifest, type PrivateHashes, privateHashes } from '../../run/create-manifest.ts';
import { ConfigError } from '../../run/flag-values.ts';
import { assertSameRun, type Manifest, type RunFile, runFileSchema } from '../../run/manifest.ts';
import { type PrivateSettings, privateSchema } from '../../run/private-settings.ts';
import type { Tool } from '../../tools/tool.ts';
import { chooseToolsets } from '../../toolsets/choose-toolsets.ts';
import { runKeys, uploadedDataset, uploadKeys } from '../bucket-keys.ts';
import { type CloudConfig, cloudRunConfig } from '../cloud-config.ts';
import type { RunRecord } from '../run-record.ts';

export interface SettingsDeps {
  files: PassFiles;
  /** JSON of the config of new runs without `run.json`. */
  standardConfig: string;
  tools: Readonly<Record<string, Tool>>;
  sha256Hex(text: string): string;
  talaria: string;
  node: string;
}

/** All that is settled before the dataset is read. */
export interface PassSettings extends CloudConfig {
  manifest: Manifest;
  stored: RunFile | undefined;
  /** `run.json` of the run as it was read. */
  storedText: StoredText | undefined;
  /** `private.json` beside the dataset. */
  secret: StoredText | undefined;
  /** Name of the uploaded file. */
  file: string;
}

/**
 * Settles what a pass runs with, touching nothing. Throws `ConfigError`, `FrozenSettingError` and
 * `DistributionUnavailableError` for what people have to mend.
 */
export async function readPassSettings(
  run: RunRecord,
  claimedAt: number,
  deps: SettingsDeps,
): Promise<PassSettings> {
  const { files, sha256Hex } = deps;
  const { key, config_version_id: configVersion } = run.dataset;
  const beside = uploadKeys(run.run_name);
  const { file = key } = uploadedDataset(key) ?? {};
  const [storedText, given, secret] = await Promise.all([
    files.text(runKeys(run.run_name).manifest),
    configVersion === '' ? undefined : files.text(beside.config, configVersion),
    files.text(beside.privateFile),
  ]);
  if (configVersion !== '' && given === undefined) {
    throw new ConfigError('run.json: the version that lay beside the dataset is gone');
  }
  const stored = storedText && runFileSchema.parse(JSON.parse(storedText.text));
  const settled = cloudRunConfig({
    runName: run.run_name,
    file,
    given: given?.text,
    standard: deps.standardConfig,
    stored,
  });
  const hashes = hashesOf(secret, stored, sha256Hex);
  if (settled.missingFiles.length > 0 && hashes.prefill_messages_sha256 === '') {
    throw new ConfigError(
      'prefill_messages_file in run.json: its messages are not here; they belong in private.json, beside the dataset and uploaded before it',
    );
  }
  const { config, distributions, frozen } = settled;
  const toolsets = chooseToolsets(config, {
    tools: deps.tools,
    sha256Hex,
    frozen,
    own: distributions,
    source: (of) => `${of} in run.json`,
  });
  const { talaria, node } = deps;
  const manifest = createManifest({ config, toolsets, hashes, talaria, node, now: claimedAt });
  if (stored !== undefined) assertSameRun(stored, config, manifest);
  return { ...settled, manifest, stored, storedText, secret, file };
}

/** What is not given stays as it was: only hashes of it are known here. */
function hashesOf(
  secret: StoredText | undefined,
  stored: RunFile | undefined,
  sha256Hex: (text: string) => string,
): PrivateHashes {
  const given = privateHashes(parsePrivate(secret?.text), sha256Hex);
  return {
    ephemeral_system_prompt_sha256:
      given.ephemeral_system_prompt_sha256 ||
      (stored?.manifest.ephemeral_system_prompt_sha256 ?? ''),
    prefill_messages_sha256:
      given.prefill_messages_sha256 || (stored?.manifest.prefill_messages_sha256 ?? ''),
  };
}

function parsePrivate(text: string | undefined): PrivateSettings {
  if (text === undefined) return {};
  const parsed = privateSchema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  // None of the parser's words: what is in there is not to be shown anywhere.
  throw new ConfigError(
    'private.json: expected {"ephemeral_system_prompt": text, "prefill_messages": [{"role", "content"}]}, each optional',
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
