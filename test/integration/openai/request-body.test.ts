import { expect, test } from 'vitest';
import { completion, text } from '../../support/model-server-replies.ts';
import { ask, TERMINAL, USER, underTest } from './model-under-test.ts';

test('a plain request has model and messages and nothing else', async () => {
  const { server, model } = await underTest(() => text('Hello'));
  const reply = await model.complete(ask());
  expect(server.requests[0]?.path).toBe('/v1/chat/completions');
  expect(server.requests[0]?.body).toEqual({
    model: 'test/model',
    messages: [{ role: 'user', content: 'List the files.' }],
  });
  expect(server.requests[0]?.headers.authorization).toBe('Bearer sk-test-key-0123456789');
  expect(reply).toMatchObject({
    message: { role: 'assistant', content: 'Hello', reasoning: 'I can answer now.', toolCalls: [] },
    finish: 'stop',
    usage: {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      reasoning_tokens: 0,
      cached_tokens: 0,
      cost_usd: null,
    },
  });
});

test('tools and the token limit are sent where given', async () => {
  const { server, model } = await underTest(() => text('Hello'), { maxTokens: 512 });
  await model.complete(ask({ tools: [TERMINAL] }));
  expect(server.requests[0]?.body).toEqual({
    model: 'test/model',
    messages: [{ role: 'user', content: 'List the files.' }],
    max_tokens: 512,
    tools: [{ type: 'function', function: TERMINAL }],
  });
});

test('without a key no Authorization header is sent', async () => {
  const { server, model } = await underTest(() => text('Hello'), { apiKey: undefined });
  await model.complete(ask());
  expect(server.requests[0]?.headers.authorization).toBeUndefined();
});

test('the ephemeral prompt goes first and the prefill before the conversation', async () => {
  const { server, model } = await underTest(() => text('Hello'), {
    ephemeralSystemPrompt: 'Be brief.',
    prefillMessages: [
      { role: 'user', content: 'Example question' },
      { role: 'assistant', content: 'Example answer', reasoning: '', toolCalls: [] },
    ],
  });
  await model.complete(ask({ messages: [{ role: 'system', content: 'You have tools.' }, USER] }));
  expect(server.requests[0]?.body.messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Example question' },
    { role: 'assistant', content: 'Example answer' },
    { role: 'system', content: 'You have tools.' },
    { role: 'user', content: 'List the files.' },
  ]);
});

test('routing and reasoning flags stay at home where the host is not OpenRouter', async () => {
  const { server, model } = await underTest(() => text('Hello'), {
    providersAllowed: ['a'],
    providerSort: 'price',
    reasoningEffort: 'high',
  });
  await model.complete(ask());
  expect(Object.keys(server.requests[0]?.body ?? {})).toEqual(['model', 'messages']);
});

test('extra_body is merged last, switches fields on, and cannot replace the conversation', async () => {
  const { server, model } = await underTest(() => text('Hello'), {
    maxTokens: 10,
    providersOrder: ['a', 'b'],
    extraBody: {
      max_tokens: 20,
      temperature: 0,
      provider: { data_collection: 'deny' },
      messages: [],
      stream: true,
    },
  });
  await model.complete(ask());
  expect(server.requests[0]?.body).toEqual({
    model: 'test/model',
    messages: [{ role: 'user', content: 'List the files.' }],
    max_tokens: 20,
    temperature: 0,
    provider: { order: ['a', 'b'], data_collection: 'deny' },
  });
});

test('a conversation with tools is sent with results by id and arguments that are JSON', async () => {
  const { server, model } = await underTest(() => text('Hello'));
  await model.complete(
    ask({
      messages: [
        USER,
        {
          role: 'assistant',
          content: '',
          reasoning: 'not sent without a replay',
          toolCalls: [
            { id: 'a', name: 'terminal', arguments: '{ "command": "ls" }' },
            { id: 'b', name: 'terminal', arguments: '{"command": ' },
            { id: 'c', name: 'terminal', arguments: '[1]' },
          ],
        },
        { role: 'tool', toolCallId: 'b', name: 'terminal', content: 'error: no JSON' },
        { role: 'tool', toolCallId: 'a', name: 'terminal', content: 'x.txt' },
      ],
    }),
  );
  const call = (id: string, args: string) => ({
    id,
    type: 'function',
    function: { name: 'terminal', arguments: args },
  });
  expect(server.requests[0]?.body.messages.slice(1)).toEqual([
    {
      role: 'assistant',
      content: null,
      tool_calls: [call('a', '{ "command": "ls" }'), call('b', '{}'), call('c', '{}')],
    },
    { role: 'tool', tool_call_id: 'b', content: 'error: no JSON' },
    { role: 'tool', tool_call_id: 'a', content: 'x.txt' },
  ]);
});

test('lone surrogates are sent as U+FFFD, pairs as they are', async () => {
  const { server, model } = await underTest(() => text('Hello'));
  await model.complete(
    ask({ messages: [{ role: 'user', content: 'a\ud800b \u{1f600} \\ud83d' }] }),
  );
  expect(server.requests[0]?.body.messages[0]?.content).toBe('a\ufffdb \u{1f600} \\ud83d');
  expect(server.requests[0]?.text).not.toContain('\\ud800');
});

test('calls are read whatever their shape and whatever the finish reason says', async () => {
  const { model } = await underTest(() =>
    completion({
      content: null,
      finish: 'stop',
      message: {
        tool_calls: [
          { id: 'x', function: { name: 'terminal', arguments: { command: 'ls' } } },
          { id: 'x', function: { name: 'terminal', arguments: '{}' } },
          { function: { name: 7 } },
          { type: 'function' },
          null,
        ],
      },
    }),
  );
  const { message, finish } = await model.complete(ask());
  expect(finish).toBe('stop');
  expect(message.toolCalls).toEqual([
    { id: 'x', name: 'terminal', arguments: '{"command":"ls"}' },
    { id: 'x_2', name: 'terminal', arguments: '{}' },
    { id: 'call_3', name: '', arguments: '{}' },
    { id: 'call_4', name: '', arguments: '{}' },
  ]);
});

test('made-up ids differ from those of earlier turns', async () => {
  const { model } = await underTest(() =>
    completion({ message: { function_call: { name: 'terminal', arguments: '{}' } } }),
  );
  const earlier = [{ id: 'call_2', name: 'terminal', arguments: '{}' }];
  const { message } = await model.complete(
    ask({
      messages: [USER, { role: 'assistant', content: '', reasoning: '', toolCalls: earlier }],
    }),
  );
  expect(message.toolCalls).toEqual([{ id: 'call_3', name: 'terminal', arguments: '{}' }]);
});

test.each([
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['content_filter', 'content_filter'],
  ['stop', 'stop'],
  ['end_turn', 'stop'],
])('finish reason %s is %s', async (sent, read) => {
  const { model } = await underTest(() => completion({ content: 'x', finish: sent }));
  expect((await model.complete(ask())).finish).toBe(read);
});

test('usage has the cost and details that OpenRouter gives', async () => {
  const { model } = await underTest(() =>
    completion({
      content: 'x',
      usage: {
        prompt_tokens: 194,
        completion_tokens: 2,
        total_tokens: 196,
        prompt_tokens_details: { cached_tokens: 100 },
        completion_tokens_details: { reasoning_tokens: 1 },
        cost: 0.0125,
      },
    }),
  );
  expect((await model.complete(ask())).usage).toEqual({
    prompt_tokens: 194,
    completion_tokens: 2,
    total_tokens: 196,
    reasoning_tokens: 1,
    cached_tokens: 100,
    cost_usd: 0.0125,
  });
});

test('senseless usage counts as nothing, its cost as unknown', async () => {
  const { model } = await underTest(() =>
    completion({
      content: 'x',
      usage: { prompt_tokens: -1, completion_tokens: 'two', cost: 'free' },
    }),
  );
  expect((await model.complete(ask())).usage).toEqual({
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    reasoning_tokens: 0,
    cached_tokens: 0,
    cost_usd: null,
  });
});
