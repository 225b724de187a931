import { describe, expect, it } from 'vitest';
import { resolveApiKey } from '../../../src/cli/local-run/model-key.ts';
import { secretValues } from '../../../src/core/agent/secret-values.ts';

const BOTH = { OPENROUTER_API_KEY: 'or-key', OPENAI_API_KEY: 'oa-key' };
const OPENROUTER = 'https://openrouter.ai/api/v1';
const OPENAI = 'https://api.openai.com/v1';

describe('resolveApiKey', () => {
  const cases: [string, string, Record<string, string>, string | undefined][] = [
    ['openrouter.ai gets its own', OPENROUTER, BOTH, 'or-key'],
    [
      'openrouter.ai takes the other variable without its own',
      OPENROUTER,
      { OPENAI_API_KEY: 'k' },
      'k',
    ],
    [
      'openrouter.ai takes no empty one',
      OPENROUTER,
      { ...BOTH, OPENROUTER_API_KEY: ' ' },
      'oa-key',
    ],
    ['openai.com never gets the key of openrouter.ai', OPENAI, BOTH, 'oa-key'],
    ['a local server gets none', 'http://127.0.0.1:8000/v1', BOTH, undefined],
    ['a host that only ends so gets none', 'https://openrouter.ai.example.com/v1', BOTH, undefined],
    ['a host with a prefix gets none', 'https://notopenrouter.ai/v1', BOTH, undefined],
    ['a name in the path gets none', 'http://localhost/openrouter.ai/v1', BOTH, undefined],
  ];
  it.each(cases)('%s', (_what, baseUrl, env, key) => {
    expect(resolveApiKey({ baseUrl, apiKeyFlag: undefined, env })).toBe(key);
  });

  it.each(['http://openrouter.ai@localhost/v1', 'https://me:secret@openrouter.ai/api/v1'])(
    'refuses a user or password in %s, without repeating it',
    (baseUrl) => {
      const asked = () => resolveApiKey({ baseUrl, apiKeyFlag: 'k', env: BOTH });
      expect(asked).toThrow('expected no user or password in it');
      expect(asked).not.toThrow('secret');
    },
  );

  it('sends the flag wherever it is to go', () => {
    const sources = { baseUrl: 'http://localhost/v1', apiKeyFlag: 'mine', env: BOTH };
    expect(resolveApiKey(sources)).toBe('mine');
  });

  it('names the three ways on where there is none', () => {
    const sources = { baseUrl: OPENROUTER, apiKeyFlag: undefined, env: {} };
    for (const way of ['OPENROUTER_API_KEY', '--base_url=http', '--model=rehearsal']) {
      expect(() => resolveApiKey(sources)).toThrow(way);
    }
    const ofOpenai = { ...sources, baseUrl: OPENAI, env: { OPENROUTER_API_KEY: 'or-key' } };
    expect(() => resolveApiKey(ofOpenai)).toThrow('no API key for api.openai.com');
  });
});

describe('secretValues', () => {
  it('takes what a name calls a secret, and the key that is used', () => {
    const env = {
      AWS_SECRET_ACCESS_KEY: 'a',
      GITHUB_TOKEN: 'b',
      DB_PASSWORD: 'c',
      HOME: '/root',
      KEYBOARD: 'us',
    };
    expect(secretValues(env, 'used').sort()).toEqual(['a', 'b', 'c', 'used']);
  });
});
