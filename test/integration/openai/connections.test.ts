import { expect, test } from 'vitest';
import type { Clock } from '../../../src/core/ports/clock.ts';
import { refusal, text } from '../../support/model-server-replies.ts';
import { ask, modelErrorOf, underTest } from './model-under-test.ts';

const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      const wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (signal?.aborted) wake();
      signal?.addEventListener('abort', wake, { once: true });
    }),
};

test('300 calls with 20 in flight use 20 connections', async () => {
  const { server, model } = await underTest(() => ({ ...text('Hello'), delayMs: 40 }), {
    maxConnections: 20,
  });
  let left = 300;
  const worker = async () => {
    while (left-- > 0) await model.complete(ask());
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  expect(server.requests).toHaveLength(300);
  expect(server.maxInFlight()).toBe(20);
  expect(server.connections()).toBe(20);
});

test('connections outlive refusals', async () => {
  const { server, model } = await underTest((request) =>
    request.number % 2 === 0 ? refusal(500, 'Down') : text('Hello'),
  );
  for (let call = 0; call < 10; call++) await model.complete(ask());
  expect(server.requests).toHaveLength(20);
  // The pool may open a second one while the first is not yet marked free.
  expect(server.connections()).toBeLessThanOrEqual(2);
});

test('no more calls are in flight than there are connections', async () => {
  const { server, model } = await underTest(() => ({ ...text('Hello'), delayMs: 5 }), {
    maxConnections: 3,
  });
  await Promise.all(Array.from({ length: 12 }, () => model.complete(ask())));
  expect(server.maxInFlight()).toBe(3);
});

test('aborting drops the request and rejects with the reason at once', async () => {
  const { server, model } = await underTest(() => ({ fault: 'hang' }));
  const controller = new AbortController();
  const call = model.complete(ask({ signal: controller.signal }));
  await expect.poll(() => server.requests.length).toBe(1);
  const reason = new Error('handed back');
  controller.abort(reason);
  await expect(call).rejects.toBe(reason);
  await expect.poll(() => server.aborted()).toBe(1);
});

test('a signal that is aborted before the call sends nothing', async () => {
  const { server, model } = await underTest(() => text('Hello'));
  const reason = new Error('too late');
  await expect(model.complete(ask({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
  expect(server.requests).toHaveLength(0);
});

test.each([
  ['a backoff', 503],
  ['a pause after a 429', 429],
])('aborting ends %s at once', async (_, status) => {
  const { server, model } = await underTest(
    () => refusal(status, 'Down', { headers: { 'retry-after': '100' } }),
    {},
    realClock,
  );
  const controller = new AbortController();
  const call = model.complete(ask({ signal: controller.signal }));
  await expect.poll(() => server.requests.length).toBe(1);
  const reason = new Error('handed back');
  setTimeout(() => controller.abort(reason), 20);
  await expect(call).rejects.toBe(reason);
  expect(server.requests).toHaveLength(1);
});

test('calls that share one signal leave nothing on it', async () => {
  const { model } = await underTest(() => text('Hello'));
  const { signal } = new AbortController();
  const counts = { added: 0, removed: 0 };
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    counts.added += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    counts.removed += 1;
    remove(...args);
  };
  await Promise.all(Array.from({ length: 30 }, () => model.complete(ask({ signal }))));
  expect(counts).toEqual({ added: 30, removed: 30 });
});

test('closing drops the connections', async () => {
  const { server, model } = await underTest(() => text('Hello'));
  await model.complete(ask());
  await model.close();
  const caught = await modelErrorOf(model.complete(ask()));
  expect(caught.outcome).toBe('failed/model_error');
  expect(server.requests).toHaveLength(1);
});
