import { expect, test } from 'vitest';
import type { ModelMessage, ModelReply } from '../../../src/core/ports/model.ts';
import {
  completion,
  refusal,
  type ScriptedReply,
  text,
  toolCall,
} from '../../support/model-server-replies.ts';
import { ask, modelErrorOf, USER, underTest } from './model-under-test.ts';

const CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'terminal', arguments: '{"command":"ls"}' },
};
const DETAILS = [{ type: 'reasoning.text', text: 'Look first.', signature: 'c2ln', index: 0 }];

function continued(reply: ModelReply): ModelMessage[] {
  return [
    USER,
    reply.message,
    { role: 'tool', toolCallId: 'call_1', name: 'terminal', content: 'x.txt' },
  ];
}

function reply(message: Record<string, unknown>): ScriptedReply {
  return completion({ message: { tool_calls: [CALL], ...message } });
}

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  [
    'reasoning_content',
    { reasoning_content: 'Look first.' },
    { content: null, reasoning_content: 'Look first.' },
  ],
  ['reasoning', { reasoning: 'Look first.' }, { content: null, reasoning: 'Look first.' }],
  [
    'reasoning_details',
    { reasoning: 'Look first.', reasoning_details: DETAILS },
    { content: null, reasoning_details: DETAILS },
  ],
  [
    '<think> tags',
    { content: '<think>Look first.</think>\n\nDone soon.' },
    { content: '<think>Look first.</think>\n\nDone soon.' },
  ],
  [
    'a scratchpad',
    { content: 'A <REASONING_SCRATCHPAD>Look first.</REASONING_SCRATCHPAD> B' },
    { content: 'A <REASONING_SCRATCHPAD>Look first.</REASONING_SCRATCHPAD> B' },
  ],
])('thinking that came as %s goes back the way it came', async (_, message, back) => {
  const { server, model } = await underTest(() => reply(message));
  const first = await model.complete(ask());
  expect(first.message.reasoning).toBe('Look first.');
  expect(first.message.content).not.toContain('Look first.');
  await model.complete(ask({ messages: continued(first) }));
  expect(server.requests[1]?.body.messages[1]).toEqual({
    role: 'assistant',
    tool_calls: [CALL],
    ...back,
  });
});

test('signatures of tool calls go back', async () => {
  const signed = { ...CALL, extra_content: { google: { thought_signature: 'abc' } } };
  const { server, model } = await underTest(() =>
    completion({ message: { tool_calls: [signed] } }),
  );
  await model.complete(ask({ messages: continued(await model.complete(ask())) }));
  expect(server.requests[1]?.body.messages[1]?.tool_calls).toEqual([signed]);
});

test('a provider that refuses thinking is not sent it again, at no cost in retries', async () => {
  const { server, model, clock } = await underTest((request) => {
    const field = request.body.messages.some((message) => 'reasoning_content' in message);
    if (field)
      return refusal(400, "Extra inputs are not permitted, field: 'messages[1].reasoning_content'");
    return toolCall('terminal', { command: 'ls' });
  });
  const first = await model.complete(ask());
  await Promise.all([
    model.complete(ask({ messages: continued(first) })),
    model.complete(ask({ messages: continued(first) })),
  ]);
  await model.complete(ask({ messages: continued(first) }));
  const sent = server.requests.map(
    (request) => 'reasoning_content' in (request.body.messages[1] ?? {}),
  );
  expect(sent.filter(Boolean)).toHaveLength(2);
  expect(sent.at(-1)).toBe(false);
  expect(clock.sleeps).toEqual([]);
});

test('a provider that misses thinking keeps getting it', async () => {
  const { server, model } = await underTest((request) =>
    request.body.messages.length === 1
      ? toolCall('terminal', { command: 'ls' })
      : refusal(400, 'Missing `reasoning_content` field in the assistant message at index 1'),
  );
  const first = await model.complete(ask());
  await modelErrorOf(model.complete(ask({ messages: continued(first) })));
  await modelErrorOf(model.complete(ask({ messages: continued(first) })));
  expect(server.requests).toHaveLength(3);
  expect(server.requests[2]?.body.messages[1]).toHaveProperty('reasoning_content');
});

test.each(['invalid message content type: <nil>', "Value error: 'content' must be a string"])(
  'a provider that says "%s" is sent "" beside tool calls from then on',
  async (complaint) => {
    const { server, model, clock } = await underTest((request) => {
      if (request.body.messages.some((message) => message.content === null))
        return refusal(400, complaint);
      return text('Hello');
    });
    const calls = [{ id: 'a', name: 'terminal', arguments: '{}' }];
    const messages: ModelMessage[] = [
      USER,
      { role: 'assistant', content: '', reasoning: '', toolCalls: calls },
    ];
    await model.complete(ask({ messages }));
    await model.complete(ask({ messages }));
    expect(server.requests.map((request) => request.body.messages[1]?.content)).toEqual([
      null,
      '',
      '',
    ]);
    expect(clock.sleeps).toEqual([]);
  },
);

test('a provider that refuses both forms is not asked for ever', async () => {
  const { server, model } = await underTest(() => refusal(400, 'content is required'));
  const calls = [{ id: 'a', name: 'terminal', arguments: '{}' }];
  const messages: ModelMessage[] = [
    USER,
    { role: 'assistant', content: '', reasoning: '', toolCalls: calls },
  ];
  await modelErrorOf(model.complete(ask({ messages })));
  expect(server.requests).toHaveLength(2);
});

test('the limit goes under its new name where the old one is refused', async () => {
  const { server, model } = await underTest(
    (request) =>
      'max_tokens' in request.body
        ? refusal(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        : text('Hello'),
    { maxTokens: 64 },
  );
  await model.complete(ask());
  expect(server.requests[1]?.body).toMatchObject({ max_completion_tokens: 64 });
  expect(server.requests[1]?.body).not.toHaveProperty('max_tokens');
});
