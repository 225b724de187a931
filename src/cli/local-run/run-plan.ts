import { join } from 'node:path';
import { type RunFolder, runFolder } from '../../adapters/local/run-folder.ts';
import { createManifest, privateHashes, REHEARSAL } from '../../core/run/create-manifest.ts';
import type { Manifest, RunFile } from '../../core/run/manifest.ts';
import { assertSameRun } from '../../core/run/manifest.ts';
import { type PrivateSettings, privateSchema } from '../../core/run/private-settings.ts';
import { RUN_NAME, type RunConfig } from '../../core/run/run-config.ts';
import type { Tool } from '../../core/tools/tool.ts';
import type { ToolsetChoice } from '../../core/toolsets/choose-toolsets.ts';
import { UsageError } from '../usage-error.ts';
import type { Wiring } from '../wiring.ts';
import { resolveApiKey } from './model-key.ts';
import { readRunFile, readStored } from './open-run.ts';
import { readPrefill } from './prefill.ts';
import { readConfigFile, resolveSettings } from './run-settings.ts';
import { chooseLocalToolsets } from './toolset-choice.ts';

/** All that is settled before the dataset is read. */
export interface RunPlan {
  config: RunConfig;
  /** Path that the dataset is read from, or `-`. */
  datasetSource: string;
  folder: RunFolder;
  stored: RunFile | undefined;
  rehearsal: boolean;
  apiKey: string | undefined;
  secret: PrivateSettings;
  toolsets: ToolsetChoice;
  manifest: Manifest;
}

export interface RunRequest {
  /** Settings given as flags. */
  flags: Record<string, unknown>;
  configPath: string | undefined;
  tools: Readonly<Record<string, Tool>>;
}

/** Settles settings, key and toolsets of a run, touching nothing. Throws errors of wrong use. */
export async function planRun(request: RunRequest, wiring: Wiring): Promise<RunPlan> {
  const file = request.configPath === undefined ? {} : await readConfigFile(request.configPath);
  const given = { ...file, ...request.flags };
  const { folder, stored } = await findStored(given);
  const resuming = request.flags['resume'] === true;
  const config = resolveSettings({
    flags: request.flags,
    file,
    filePath: request.configPath,
    stored: resuming ? stored : undefined,
  });
  if (stored !== undefined && !resuming) {
    throw new UsageError(
      `the run ${config.run_name} is there already, in ${folder.path}: --resume goes on with it (nothing finished is bought again), another --run_name begins a new one`,
    );
  }
  const rehearsal = config.model === REHEARSAL;
  const { base_url: baseUrl, api_key: apiKeyFlag } = config;
  const apiKey = rehearsal ? undefined : resolveApiKey({ baseUrl, apiKeyFlag, env: wiring.env });
  const toolsets = await chooseLocalToolsets(config, {
    tools: request.tools,
    sha256Hex: wiring.sha256Hex,
    frozen: 'distributions_file' in given ? undefined : stored?.manifest.distribution,
  });
  const secret = await privateSettings(config, folder, stored === undefined ? undefined : given);
  const manifest = createManifest({
    config,
    toolsets,
    hashes: privateHashes(secret, wiring.sha256Hex),
    talaria: wiring.version,
    node: wiring.nodeVersion,
    now: wiring.clock.now(),
  });
  if (stored !== undefined) assertSameRun(stored, config, manifest);
  const datasetSource = sourceOf(config, folder, stored, given);
  return { config, datasetSource, folder, stored, rehearsal, apiKey, secret, toolsets, manifest };
}

async function findStored(given: Record<string, unknown>) {
  const { run_name: runName, output_dir: outputDir = 'data' } = given;
  // Before the settings are checked: a name that is none leads to no folder.
  const safe = typeof runName === 'string' && RUN_NAME.test(runName) ? runName : undefined;
  const folder = runFolder(typeof outputDir === 'string' ? outputDir : 'data', safe ?? '');
  return { folder, stored: safe === undefined ? undefined : await readRunFile(folder) };
}

/** Standard input can be read once: a resume that names no dataset goes on with what it gave. */
function sourceOf(
  { dataset_file: path }: RunConfig,
  folder: RunFolder,
  stored: RunFile | undefined,
  given: Record<string, unknown>,
): string {
  const last = stored?.passes.at(-1);
  const named = given['dataset_file'] !== undefined;
  return path === '-' && !named && last !== undefined ? folder.input(last.input_of_pass) : path;
}

/** A resume sends what the run has, unless told otherwise: a prefill file may be gone by then. */
async function privateSettings(
  config: RunConfig,
  folder: RunFolder,
  givenToResume: Record<string, unknown> | undefined,
): Promise<PrivateSettings> {
  const before =
    givenToResume === undefined
      ? {}
      : ((await readStored(folder.privateFile, privateSchema)) ?? {});
  const { prefill_messages_file: path = undefined } = givenToResume ?? config;
  const prefill = typeof path === 'string' ? await readPrefill(path) : before.prefill_messages;
  const prompt = config.ephemeral_system_prompt ?? before.ephemeral_system_prompt;
  return {
    ...(prompt !== undefined && { ephemeral_system_prompt: prompt }),
    ...(prefill !== undefined && { prefill_messages: prefill }),
  };
}

/** Path of a run's file as people are shown it. */
export function shownFolder(config: RunConfig): string {
  return join(config.output_dir, config.run_name);
}
