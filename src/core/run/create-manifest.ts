import type { ToolsetChoice } from '../toolsets/choose-toolsets.ts';
import { TOOL_NAMES } from '../toolsets/registry.ts';
import type { Manifest } from './manifest.ts';
import type { PrivateSettings } from './private-settings.ts';
import type { RunConfig } from './run-config.ts';

/** The model that is none: made-up answers, no key, no network. */
export const REHEARSAL = 'rehearsal';

/** Hashes of what is sent and never written: "" for what there is none of. */
export type PrivateHashes = Pick<
  Manifest,
  'ephemeral_system_prompt_sha256' | 'prefill_messages_sha256'
>;

export function privateHashes(
  { ephemeral_system_prompt: prompt, prefill_messages: prefill }: PrivateSettings,
  sha256Hex: (text: string) => string,
): PrivateHashes {
  return {
    ephemeral_system_prompt_sha256: prompt === undefined ? '' : sha256Hex(prompt),
    prefill_messages_sha256: prefill === undefined ? '' : sha256Hex(JSON.stringify(prefill)),
  };
}

export interface ManifestFacts {
  config: RunConfig;
  toolsets: Pick<ToolsetChoice, 'distribution' | 'available' | 'toolsOf'>;
  hashes: PrivateHashes;
  /** Versions of Talaria and of Node. */
  talaria: string;
  node: string;
  /** Milliseconds since 1970. */
  now: number;
}

/** What this pass would freeze if it were the run's first. */
export function createManifest(of: ManifestFacts): Manifest {
  const { distribution, available } = of.toolsets;
  return {
    version: 1,
    talaria: of.talaria,
    node: of.node,
    created_at: new Date(of.now).toISOString(),
    rehearsal: of.config.model === REHEARSAL,
    sandbox: of.config.sandbox,
    images: {},
    ...of.hashes,
    distribution: { name: distribution.name, toolsets: { ...distribution.toolsets } },
    available_toolsets: available,
    tools: [...of.toolsets.toolsOf(available).values()].map((tool) => tool.schema),
    valid_tool_names: [...TOOL_NAMES],
  };
}
