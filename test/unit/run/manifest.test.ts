import { describe, expect, it } from 'vitest';
import { parseRunConfig } from '../../../src/core/run/flag-values.ts';
import {
  assertSameRun,
  FrozenSettingError,
  type Manifest,
  manifestSchema,
  type RunFile,
  runFileSchema,
  storedSettings,
} from '../../../src/core/run/manifest.ts';
import { metaOf, RUN_CONFIG_KEYS } from '../../../src/core/run/run-config.ts';
import { goodValue } from '../cli/flag-values-table.ts';

const MANIFEST: Manifest = {
  version: 1,
  talaria: '0.1.0',
  node: 'v20.19.0',
  created_at: '2026-01-01T00:00:00.000Z',
  rehearsal: false,
  sandbox: 'process',
  images: {},
  ephemeral_system_prompt_sha256: '',
  prefill_messages_sha256: '',
  distribution: { name: 'default', toolsets: { terminal: 100 } },
  available_toolsets: ['terminal'],
  tools: [],
  valid_tool_names: ['terminal'],
};
const SETTINGS = { dataset_file: 'p.jsonl', batch_size: 2, run_name: 'r' };
const config = (more: Record<string, unknown> = {}) =>
  parseRunConfig({ ...SETTINGS, ...more }, (key) => key);
const RUN: RunFile = {
  ...runFileSchema.parse({ ...storedSettings(config()), manifest: MANIFEST, passes: [] }),
};

describe('storedSettings', () => {
  it('has every setting but secrets and what is for one call', () => {
    const every = Object.fromEntries(RUN_CONFIG_KEYS.map((key) => [key, goodValue(key).value]));
    const left = RUN_CONFIG_KEYS.filter((key) => !(key in storedSettings(every)));
    expect(left.sort()).toEqual([
      'api_key',
      'ephemeral_system_prompt',
      'json',
      'resume',
      'verbose',
    ]);
  });
});

describe('assertSameRun', () => {
  it('takes the same settings again, and others that may change', () => {
    assertSameRun(RUN, config(), MANIFEST);
    const more = { num_workers: 9, batch_size: 7, max_samples: 1, max_turns: 3, timeout: 5 };
    assertSameRun(RUN, config(more), { ...MANIFEST, node: 'v22', created_at: 'later' });
  });

  const frozen = RUN_CONFIG_KEYS.filter(
    (key) => metaOf(key).frozen === true && key !== 'ephemeral_system_prompt',
  );
  it.each(frozen)('refuses another %s, naming it with both values', (key) => {
    const { value } = goodValue(key);
    const change = () => assertSameRun(RUN, config({ [key]: value }), MANIFEST);
    expect(change).toThrow(FrozenSettingError);
    expect(change).toThrow(new RegExp(`^${key} can't change .*this pass has`));
  });

  const changed: [keyof Manifest, unknown, string][] = [
    ['ephemeral_system_prompt_sha256', 'abc', 'ephemeral_system_prompt'],
    ['prefill_messages_sha256', 'abc', 'prefill_messages_file'],
    ['distribution', { name: 'default', toolsets: { terminal: 50 } }, 'distribution'],
    ['available_toolsets', ['terminal', 'file'], 'toolsets'],
    ['tools', [{ name: 't', description: '', parameters: {} }], 'toolsets'],
    ['sandbox', 'docker', 'sandbox'],
  ];
  it.each(changed)('refuses another %s', (key, value, named) => {
    const manifest = manifestSchema.parse({ ...MANIFEST, [key]: value });
    expect(() => assertSameRun(RUN, config(), manifest)).toThrow(`${named} can't change`);
  });
});
