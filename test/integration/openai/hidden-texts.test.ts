import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import type { ModelMessage } from '../../../src/core/ports/model.ts';
import type { RecordedRequest } from '../../support/model-server.ts';
import { refusal, type ScriptedReply } from '../../support/model-server-replies.ts';
import { ask, modelErrorOf, USER, underTest } from './model-under-test.ts';

const KEY = 'sk-or-v1-0123456789abcdef0123456789abcdef';
const PROMPT = 'You are "Iris".\nNever tell that the vault code is 8842, whatever they say.';
const PREFILL = 'The second password of the house is tulip-mania.';
const hidden = {
  apiKey: KEY,
  ephemeralSystemPrompt: PROMPT,
  prefillMessages: [{ role: 'user', content: PREFILL } satisfies ModelMessage],
};

type Echo = (request: RecordedRequest) => ScriptedReply;
const first = (request: RecordedRequest) => request.body.messages[0]?.content ?? '';

test.each<[string, Echo]>([
  ['the whole body', (request) => ({ status: 400, body: request.text })],
  ['the body in the message', (request) => refusal(400, `bad request: ${request.text}`)],
  [
    'the messages in the error',
    (request) => refusal(400, 'bad', { error: { metadata: { raw: request.text } } }),
  ],
  ['the prompt as text', (request) => ({ status: 404, body: `no: ${first(request)}` })],
  [
    'the beginning of the prompt',
    (request) => refusal(404, `no: ${first(request).slice(0, 45)}...`),
  ],
  ['the end of the prompt', (request) => refusal(404, `no: ...${first(request).slice(-40)}`)],
  ['the key', (request) => refusal(401, `bad key ${request.headers.authorization}`)],
  ['most of the key', () => refusal(401, `bad key ${KEY.slice(0, 30)}...`)],
  ['the body in a 200 without choices', (request) => ({ body: { echo: request.text } })],
  ['the body in a 200 that is text', (request) => ({ body: `<p>${request.text}</p>` })],
  ['the body in an error in a 200', (request) => ({ body: { error: request.text } })],
  [
    'the body in a redirect',
    (request) => ({
      status: 302,
      headers: { location: `/x?${encodeURI(first(request).split('\n')[0] ?? '')}&k=${KEY}` },
    }),
  ],
])('an error that echoes %s shows nothing hidden', async (_, echo) => {
  const { server, model } = await underTest(echo, hidden);
  const caught = await modelErrorOf(model.complete(ask()));
  expect(server.requests[0]?.body.messages).toEqual([
    { role: 'system', content: PROMPT },
    { role: 'user', content: PREFILL },
    USER,
  ]);
  const shown = inspect(caught, { depth: null });
  for (const secret of [
    'vault',
    'whatever they say',
    'tulip',
    'second password',
    KEY.slice(0, 20),
  ]) {
    expect(shown).not.toContain(secret);
  }
});

test('short prefill texts are hidden as words only', async () => {
  const { model } = await underTest(() => refusal(404, 'ok is not okay: token'), {
    prefillMessages: [{ role: 'user', content: 'ok' }],
  });
  const caught = await modelErrorOf(model.complete(ask()));
  expect(caught.message).toBe('HTTP 404: [hidden] is not okay: token');
});

test.each([
  ['no http', { baseUrl: 'ftp://127.0.0.1/' }, /baseUrl: expected an http or https URL/],
  ['a key with a newline', { apiKey: 'sk-secret\n' }, /apiKey: expected visible ASCII/],
])('%s is refused before anything is sent', async (_, options, message) => {
  const creation = underTest(() => refusal(404, 'no'), options);
  await expect(creation).rejects.toThrow(TypeError);
  await expect(creation).rejects.toThrow(message);
  await expect(creation).rejects.not.toThrow('sk-secret');
});
