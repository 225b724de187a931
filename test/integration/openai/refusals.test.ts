import { expect, test } from 'vitest';
import { refusal, text } from '../../support/model-server-replies.ts';
import { ask, modelErrorOf, underTest } from './model-under-test.ts';

const OPENAI_RATE =
  'Rate limit reached for gpt-4 on tokens per min (TPM): Limit 10000. Please try again in 6s. ' +
  'You can increase your rate limit at https://platform.openai.com/account/billing.';

test.each<[number, string, string, number, Record<string, unknown>?]>([
  [401, 'Incorrect API key provided', 'failed/auth', 1],
  [402, 'Insufficient credits. Add more using the settings.', 'failed/credits', 1],
  [403, 'Your key may not use this model', 'failed/auth', 1],
  [403, 'Your input was flagged', 'failed/content_filter', 1],
  [
    403,
    'Refused',
    'failed/content_filter',
    1,
    { code: 403, metadata: { reasons: ['violence'], flagged_input: 'x' }, type: 'moderation' },
  ],
  [403, 'Key limit exceeded (total limit).', 'failed/credits', 1],
  [403, 'Denied', 'failed/credits', 1, { metadata: { limit_source: 'openrouter_key_limit' } }],
  [
    429,
    'You exceeded your current quota, please check your plan and billing details.',
    'failed/credits',
    1,
    { code: 'insufficient_quota' },
  ],
  [429, 'You have run out of credits', 'failed/credits', 1],
  [429, OPENAI_RATE, 'failed/rate_limited', 5, { code: 'rate_limit_exceeded' }],
  [429, 'Provider returned error', 'failed/rate_limited', 5],
  [
    402,
    'Budget in use',
    'failed/rate_limited',
    5,
    { metadata: { limit_source: 'openrouter_in_flight_budget' } },
  ],
  [400, "This model's maximum context length is 8192 tokens.", 'partial/context', 1],
  [400, 'Too long', 'partial/context', 1, { code: 'context_length_exceeded' }],
  [400, 'prompt is too long: 210000 tokens > 200000 maximum', 'partial/context', 1],
  [413, 'Request Entity Too Large', 'partial/context', 1],
  [500, 'the request exceeds the available context size', 'partial/context', 1],
  [
    400,
    'The response was filtered due to our content management policy',
    'failed/content_filter',
    1,
    { code: 'content_filter' },
  ],
  [400, 'Your credit balance is too low to access the API', 'failed/credits', 1],
  [400, 'max_tokens is too large: 100000', 'failed/model_error', 1],
  [400, 'Unknown parameter', 'failed/model_error', 1],
  [404, 'No endpoints found for test/model', 'failed/model_error', 1],
  [422, 'Unprocessable', 'failed/model_error', 1],
  [408, 'Timed out', 'failed/model_error', 5],
  [409, 'Conflict', 'failed/model_error', 5],
  [500, 'Internal error', 'failed/model_error', 5],
  [502, 'Bad gateway', 'failed/model_error', 5],
  [503, 'No provider', 'failed/model_error', 5],
  [524, 'A timeout occurred', 'failed/model_error', 5],
  [529, 'Overloaded', 'failed/model_error', 5],
])('HTTP %i "%s" is %s after %i requests', async (status, message, outcome, requests, error) => {
  const { server, model } = await underTest(() =>
    refusal(status, message, error === undefined ? {} : { error }),
  );
  const caught = await modelErrorOf(model.complete(ask()));
  expect(caught.outcome).toBe(outcome);
  expect(caught.status).toBe(status);
  expect(caught.message).toContain(`HTTP ${status}: ${message}`);
  expect(server.requests).toHaveLength(requests);
});

test.each<[unknown, string, number, number]>([
  [{ code: 402, message: 'Insufficient credits' }, 'failed/credits', 402, 1],
  [{ code: 401, message: 'No auth' }, 'failed/auth', 401, 1],
  [{ code: '403', message: 'flagged' }, 'failed/content_filter', 403, 1],
  [{ code: 429, message: 'Slow down' }, 'failed/rate_limited', 429, 5],
  [{ code: 502, message: 'Upstream failed' }, 'failed/model_error', 502, 5],
  [{ code: 'context_length_exceeded', message: 'x' }, 'partial/context', 200, 1],
  [{ code: 'rate_limit_exceeded', message: 'x' }, 'failed/rate_limited', 200, 5],
  ['something broke', 'failed/model_error', 200, 5],
])('an error inside a 200, %j, is %s', async (error, outcome, status, requests) => {
  const { server, model } = await underTest(() => ({ body: { error } }));
  const caught = await modelErrorOf(model.complete(ask()));
  expect(caught).toMatchObject({ outcome, status });
  expect(server.requests).toHaveLength(requests);
});

test('an error of the choice inside a 200 counts too', async () => {
  const choice = { error: { code: 403, message: 'flagged' }, message: { content: 'half' } };
  const { model } = await underTest(() => ({ body: { choices: [choice] } }));
  expect((await modelErrorOf(model.complete(ask()))).outcome).toBe('failed/content_filter');
});

test('the message is one line of 500 characters with the words of the provider behind', async () => {
  const raw = JSON.stringify({ error: { message: `line one\nline two ${'x'.repeat(600)}` } });
  const { model } = await underTest(() =>
    refusal(400, 'Provider returned error', { error: { metadata: { raw } } }),
  );
  const { message } = await modelErrorOf(model.complete(ask()));
  expect(message).toMatch(/^HTTP 400: Provider returned error: line one line two x+…$/);
  expect(message).toHaveLength('HTTP 400: '.length + 500 + 1);
});

test.each([
  ['plain text', 'upstream says no', 'HTTP 404: upstream says no'],
  ['a page', '<html>\n<b>Not found</b></html>', 'HTTP 404: <html> <b>Not found</b></html>'],
  ['no error key', { object: 'error', message: 'from vLLM' }, 'HTTP 404: from vLLM'],
  ['a detail', { detail: 'from FastAPI' }, 'HTTP 404: from FastAPI'],
  ['an error text', { error: 'from Ollama' }, 'HTTP 404: from Ollama'],
  ['nothing', undefined, 'HTTP 404: no explanation given'],
])('the words are found in a body of %s', async (_, body, message) => {
  const { model } = await underTest(() => ({ status: 404, body }));
  expect((await modelErrorOf(model.complete(ask()))).message).toBe(message);
});

test('a redirect is not followed and says where it leads', async () => {
  const { server, model } = await underTest(() => ({
    status: 308,
    headers: { location: 'https://other.example/v1' },
  }));
  const caught = await modelErrorOf(model.complete(ask()));
  expect(caught.message).toBe('HTTP 308: redirect to https://other.example/v1');
  expect(server.requests).toHaveLength(1);
});

test('a reply over 64 MB is refused at once', async () => {
  const { server, model } = await underTest(() => ({ body: ' '.repeat(64 * 1024 * 1024 + 1) }));
  const caught = await modelErrorOf(model.complete(ask()));
  expect(caught).toMatchObject({ outcome: 'failed/model_error', status: 200 });
  expect(caught.message).toBe('HTTP 200: the answer is over 67108864 bytes');
  expect(server.requests).toHaveLength(1);
});

test('the model works on after a refusal', async () => {
  const { model } = await underTest((request) =>
    request.number === 0 ? refusal(400, 'Unknown parameter') : text('Hello'),
  );
  await modelErrorOf(model.complete(ask()));
  expect((await model.complete(ask())).message.content).toBe('Hello');
});
