import { describe, expect, it } from 'vitest';
import { keyForHost, parseModelKeys } from '../../../src/core/cloud/model-keys.ts';

describe('keys by host', () => {
  const keys = { 'openrouter.ai': 'sk-router', '127.0.0.1:8000': 'sk-local' };

  it.each([
    ['https://openrouter.ai/api/v1', 'sk-router'],
    ['https://OpenRouter.ai:443/api/v1', 'sk-router'],
    ['http://127.0.0.1:8000/v1', 'sk-local'],
    ['http://127.0.0.1:8001/v1', undefined],
    ['http://127.0.0.1/v1', undefined],
    ['https://openrouter.ai:8443/api/v1', undefined],
    ['http://openrouter.ai/api/v1', undefined],
    ['https://evil.openrouter.ai/api/v1', undefined],
    ['https://openrouter.ai.evil.example/api/v1', undefined],
    ['https://openrouter.ai@evil.example/v1', undefined],
    ['https://constructor/v1', undefined],
    ['https://__proto__/v1', undefined],
  ])('%s gets %s', (baseUrl, key) => {
    expect(keyForHost(keys, baseUrl)).toBe(key);
  });

  it('takes an empty object, and no other thing', () => {
    expect(parseModelKeys('{}')).toEqual({});
    for (const text of [
      'sk-secret',
      '["sk-secret"]',
      '{"a": {"b": "sk-secret"}}',
      '{"a": ""}',
      '',
    ]) {
      expect(() => parseModelKeys(text)).toThrow(
        /^MODEL_KEYS: expected a JSON object of keys by host, got something else$/,
      );
    }
  });
});
