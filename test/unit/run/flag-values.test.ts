import { describe, expect, it } from 'vitest';
import {
  ConfigError,
  decodeFlag,
  expected,
  parseRunConfig,
} from '../../../src/core/run/flag-values.ts';
import { RUN_CONFIG_KEYS, type RunConfigKey } from '../../../src/core/run/run-config.ts';
import { badJson, badText, goodValue } from '../cli/flag-values-table.ts';

const REQUIRED = { dataset_file: 'p.jsonl', batch_size: 1, run_name: 'r' };
const asFlag = (key: string) => `--${key}`;

function fault(values: Record<string, unknown>, source = asFlag): string {
  try {
    parseRunConfig(values, source);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('was taken');
}

const refusing = RUN_CONFIG_KEYS.filter((key) => badText(key) !== undefined);

describe.each(RUN_CONFIG_KEYS)('%s', (key) => {
  it('takes a right value', () => {
    const config = parseRunConfig({ ...REQUIRED, [key]: goodValue(key).value }, asFlag);
    expect(config[key]).toEqual(goodValue(key).value);
  });

  it('refuses a wrong JSON value, saying where, what was expected and what came', () => {
    const message = fault({ ...REQUIRED, [key]: badJson(key) }, (name) => `${name} in run.json`);
    expect(message).toContain(`${key} in run.json: expected ${expected(key)}, got `);
    if (key !== 'api_key') expect(message).toContain(JSON.stringify(badJson(key)));
  });
});

describe.each(refusing)('--%s', (key: RunConfigKey) => {
  it('refuses a wrong text, saying which flag, what was expected and what came', () => {
    const value = decodeFlag(key, badText(key) ?? '');
    const message = fault({ ...REQUIRED, [key]: value });
    const came = key === 'api_key' ? 'something else' : JSON.stringify(value);
    expect(message).toBe(`--${key}: expected ${expected(key)}, got ${came}`);
  });
});

describe('parseRunConfig', () => {
  it('reports every wrong setting at once', () => {
    const message = fault({ run_name: 'r', batch_size: 0, seed: -1, nonsense: 1 });
    expect(message.split('\n')).toHaveLength(5);
    expect(message).toMatch(/^4 settings are wrong:\n {2}--/);
    for (const key of ['dataset_file is required', 'batch_size: expected', 'seed: expected']) {
      expect(message).toContain(`--${key}`);
    }
    expect(message).toContain('--nonsense: there is no such setting');
  });

  it('never shows a wrong key', () => {
    expect(fault({ ...REQUIRED, api_key: 1_234_567_890 })).not.toContain('1234567890');
  });

  it('shows a long wrong value cut', () => {
    expect(fault({ ...REQUIRED, seed: 'x'.repeat(10_000) }).length).toBeLessThan(400);
  });

  it('fills in every default', () => {
    expect(parseRunConfig(REQUIRED, asFlag)).toMatchObject({
      model: 'anthropic/claude-sonnet-4.6',
      base_url: 'https://openrouter.ai/api/v1',
      distribution: 'default',
      max_turns: 10,
      num_workers: 4,
      max_attempts: 3,
      log_prefix_chars: 100,
      output_dir: 'data',
      samples_per_prompt: 1,
    });
  });
});

describe('decodeFlag', () => {
  const cases: [RunConfigKey, string, unknown][] = [
    ['seed', '1e3', 1000],
    ['seed', '0x10', '0x10'],
    ['seed', ' 5', ' 5'],
    ['seed', 'Infinity', 'Infinity'],
    ['max_cost_usd', '.5', 0.5],
    ['verbose', 'False', false],
    ['verbose', 'yes', 'yes'],
    ['providers_order', ' a, b ,,c', ['a', 'b', 'c']],
    ['extra_body', '{broken', '{broken'],
    ['model', '12', '12'],
  ];
  it.each(cases)('%s %j is %j', (key, given, value) => {
    expect(decodeFlag(key, given)).toEqual(value);
  });
});
