import { expect, test } from 'vitest';
import { inTurn, refusal, type ScriptedReply, text } from '../../support/model-server-replies.ts';
import { ask, modelErrorOf, underTest } from './model-under-test.ts';

const ok = text('Hello');

test.each<[string, ScriptedReply]>([
  ['a status of 500', refusal(500, 'Internal error')],
  ['a body that is not JSON', { body: '{"choices": [' }],
  ['an empty body', {}],
  ['an empty 204', { status: 204, headers: { 'content-length': '0' } }],
  ['a body without choices', { body: { choices: [] } }],
  ['a choice that broke off', { body: { choices: [{ message: {}, finish_reason: 'error' }] } }],
  ['a reset connection', { fault: 'reset' }],
  ['a body cut short', { ...ok, fault: 'cut' }],
])('%s passes: the call is tried again after a backoff', async (_, fault) => {
  const { server, model, clock } = await underTest(inTurn(fault, fault, ok));
  expect((await model.complete(ask())).message.content).toBe('Hello');
  expect(server.requests).toHaveLength(3);
  // Half of 1 s and of 2 s: the jitter of the tests is 0.5.
  expect(clock.sleeps).toEqual([500, 1_000]);
});

test('five tries are all there are', async () => {
  const { server, model, clock } = await underTest(() => refusal(503, 'Down'));
  const caught = await modelErrorOf(model.complete(ask()));
  expect(caught).toMatchObject({ outcome: 'failed/model_error', status: 503 });
  expect(server.requests).toHaveLength(5);
  expect(clock.sleeps).toEqual([500, 1_000, 2_000, 4_000]);
});

test('a server that is not there is a model error without a status', async () => {
  const { server, model } = await underTest(() => ok);
  await server.close();
  const caught = await modelErrorOf(model.complete(ask()));
  expect(caught).toMatchObject({ outcome: 'failed/model_error', status: 0 });
  expect(caught.message).toMatch(/^no answer: .*ECONNREFUSED/);
});

test.each<[string, ScriptedReply]>([
  ['before the head', { fault: 'hang' }],
  ['within the body', { ...ok, fault: 'stall' }],
])('an answer that stops %s meets the time limit and is tried again', async (_, fault) => {
  const { server, model } = await underTest(inTurn(fault, ok), { requestTimeoutMs: 60 });
  expect((await model.complete(ask())).message.content).toBe('Hello');
  expect(server.requests).toHaveLength(2);
});

test('a call that always times out says so', async () => {
  const { model } = await underTest(() => ({ fault: 'hang' }), { requestTimeoutMs: 20 });
  const caught = await modelErrorOf(model.complete(ask()));
  expect(caught).toMatchObject({ outcome: 'failed/model_error', status: 0 });
  expect(caught.message).toBe('no answer: no complete answer within 20 ms');
});

test.each<[string, Record<string, string>, number]>([
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['milliseconds', { 'retry-after-ms': '250', 'retry-after': '9' }, 250],
  ['an HTTP date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
  ['a past date', { 'retry-after': 'Wed, 31 Dec 2025 23:59:00 GMT' }, 0],
  ['more than two minutes', { 'retry-after': '86400' }, 120_000],
  ['nothing readable', { 'retry-after': 'soon' }, 500],
])('a 503 with Retry-After in %s is waited out', async (_, headers, waitMs) => {
  const { model, clock } = await underTest(inTurn(refusal(503, 'Down', { headers }), ok));
  await model.complete(ask());
  expect(clock.sleeps).toEqual([waitMs]);
});

test('a 429 pauses for what Retry-After asks, spread by up to two seconds', async () => {
  const headers = { 'retry-after': '10' };
  const { model, clock } = await underTest(inTurn(refusal(429, 'Slow', { headers }), ok));
  await model.complete(ask());
  expect(clock.sleeps).toEqual([10_000 + 0.5 * 2_000]);
});

test('a 429 without Retry-After pauses longer each time', async () => {
  const { model, clock } = await underTest(() => refusal(429, 'Slow'));
  const caught = await modelErrorOf(model.complete(ask()));
  expect(caught.outcome).toBe('failed/rate_limited');
  // Three quarters of 1, 2, 4 and 8 s, and half of a spread as long, at most 2 s.
  expect(clock.sleeps).toEqual([1_125, 2_250, 4_000, 7_000]);
});

test('many calls get through a narrow limit without using up their retries', async () => {
  // Lets two through in each second of the fast clock and refuses the rest.
  const seen = new Map<number, number>();
  let refused = 0;
  const { server, model, clock } = await underTest(
    () => {
      const second = Math.floor(clock.monotonic() / 1_000);
      const count = (seen.get(second) ?? 0) + 1;
      seen.set(second, count);
      if (count <= 2) return { ...ok, delayMs: 5 };
      refused += 1;
      return { ...refusal(429, 'Slow', { headers: { 'retry-after': '1' } }), delayMs: 5 };
    },
    { maxConnections: 60 },
  );
  const replies = await Promise.all(Array.from({ length: 60 }, () => model.complete(ask())));
  expect(replies).toHaveLength(60);
  expect(server.requests).toHaveLength(60 + refused);
  // Without the window each of 30 pauses would end in a burst of all that are left: 870.
  expect(refused).toBeLessThan(400);
});

test('while one call waits out a 429, another does not send', async () => {
  const sentAt: number[] = [];
  const { model, clock } = await underTest((request) => {
    sentAt.push(clock.monotonic());
    return request.number === 0 ? refusal(429, 'Slow', { headers: { 'retry-after': '60' } }) : ok;
  });
  const first = model.complete(ask());
  await expect.poll(() => clock.sleeps.length, { interval: 1 }).toBe(1);
  await Promise.all([first, model.complete(ask()), model.complete(ask())]);
  expect(sentAt).toHaveLength(4);
  expect(sentAt.slice(1).every((at) => at >= 60_000)).toBe(true);
});

test('a call under way is finished when the run stops', async () => {
  const stop = new AbortController();
  const { model } = await underTest(() => {
    stop.abort(new Error('stopping'));
    return ok;
  });
  const reply = await model.complete({ ...ask(), handBack: stop.signal });
  expect(reply.message.content).toBe('Hello');
});

test('a call that waits to be sent again is not sent once the run stops', async () => {
  const stop = new AbortController();
  const { server, model } = await underTest(() => {
    stop.abort(new Error('stopping'));
    return refusal(503, 'Down');
  });
  await expect(model.complete({ ...ask(), handBack: stop.signal })).rejects.toThrow('stopping');
  expect(server.requests).toHaveLength(1);
});
