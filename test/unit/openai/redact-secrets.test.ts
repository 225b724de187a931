import { expect, test } from 'vitest';
import { createRedact, oneLine } from '../../../src/adapters/openai/redact-secrets.ts';

const SECRET = 'The quick brown fox\njumps "over" the lazy dog';

test.each([
  ['the whole', `no: ${oneLine(SECRET)}!`, 'no: [hidden]!'],
  ['its JSON form', `no: ${JSON.stringify(SECRET)}`, 'no: "[hidden]"'],
  ['a long piece', 'no: brown fox jumps "over" t…', 'no:[hidden]…'],
  ['one of its lines', 'no: The quick brown fox.', 'no: [hidden].'],
  ['something else', 'no: the lazy cat', 'no: the lazy cat'],
])('%s of a secret is hidden', (_, line, hidden) => {
  expect(createRedact([SECRET])(line)).toBe(hidden);
});

test('without secrets nothing changes', () => {
  expect(createRedact([''])('as it is')).toBe('as it is');
});
