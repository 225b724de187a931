import { describe, expect, it } from 'vitest';
import { CLOUD_USES, REFUSED_WORDS } from '../../../src/core/cloud/cloud-flags.ts';
import { metaOf, RUN_CONFIG_KEYS } from '../../../src/core/run/run-config.ts';

describe('CLOUD_USES', () => {
  it('says of every setting, and of nothing else, what becomes of it', () => {
    expect(Object.keys(CLOUD_USES).sort()).toEqual([...RUN_CONFIG_KEYS].sort());
  });

  it('sends nothing that is for the command line alone, such as a key', () => {
    const sent = RUN_CONFIG_KEYS.filter((key) => CLOUD_USES[key] === 'sent');
    expect(sent.filter((key) => metaOf(key).commandLineOnly === true)).toEqual([]);
    expect(sent).not.toContain('ephemeral_system_prompt');
  });

  it('has a way on for everything that is refused', () => {
    const refused = RUN_CONFIG_KEYS.filter((key) => CLOUD_USES[key] === 'refused');
    expect(refused).toEqual(['api_key', 'max_cost_usd', 'max_total_tokens']);
    for (const key of refused)
      expect(REFUSED_WORDS[key]).toMatch(/talaria secrets set|leave it out/);
  });
});
