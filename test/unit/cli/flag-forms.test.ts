import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addRunOptions, givenSettings, normalizeFlags } from '../../../src/cli/run-options.ts';
import { valueShape } from '../../../src/core/run/flag-values.ts';
import { RUN_CONFIG_KEYS } from '../../../src/core/run/run-config.ts';
import { goodValue } from './flag-values-table.ts';

function settings(...words: string[]): Record<string, unknown> {
  const command = new Command('run').exitOverride();
  addRunOptions(command);
  command.parse(normalizeFlags(words, [command]), { from: 'user' });
  return givenSettings(command.opts());
}

describe.each(RUN_CONFIG_KEYS)('--%s', (key) => {
  const { text, value } = goodValue(key);
  const dashed = key.replaceAll('_', '-');
  const forms = [
    [`--${key}=${text}`],
    [`--${key}`, text],
    [`--${dashed}=${text}`],
    [`--${dashed}`, text],
  ];

  it.each(forms)('is taken as %s', (...words) => {
    expect(settings(...words)).toEqual({ [key]: value });
  });

  if (valueShape(key).type === 'boolean') {
    it('is on without a value and off with false', () => {
      expect(settings(`--${dashed}`)).toEqual({ [key]: true });
      expect(settings(`--${key}=false`)).toEqual({ [key]: false });
      expect(settings(`--${key}=TRUE`)).toEqual({ [key]: true });
    });
  }
});

describe('normalizeFlags', () => {
  const command = new Command('run');
  addRunOptions(command);
  const normalized = (...words: string[]) => normalizeFlags(words, [command]);

  it('leaves values alone, even such as look like flags', () => {
    expect(normalized('--ephemeral-system-prompt', '--be-kind', '--model=a-b-c')).toEqual([
      '--ephemeral_system_prompt',
      '--be-kind',
      '--model=a-b-c',
    ]);
  });

  it('leaves what follows -- alone', () => {
    expect(normalized('--max-turns=1', '--', '--max-turns=1')).toEqual([
      '--max_turns=1',
      '--',
      '--max-turns=1',
    ]);
  });

  it('keeps unknown flags as they were typed', () => {
    expect(normalized('--max-turn=1')).toEqual(['--max-turn=1']);
  });
});
