import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { call, reply, runLoop, tool } from './scripted-loop.ts';

const echo = tool('terminal', async (args) => JSON.stringify({ echo: args }));
const failing = tool('read_file', async () => JSON.stringify({ error: 'no such file' }));
const ANSWER = reply('done');

describe('the agent loop', () => {
  it('asks, calls tools, sends their results back, and ends with the answer', async () => {
    const { ending, conversation, requests } = await runLoop({
      replies: [reply('', [call('c1', 'terminal', { n: 1 })]), ANSWER],
      tools: [echo],
    });
    expect(ending).toEqual({ outcome: 'completed', reason: '' });
    expect(requests[0]?.tools.map((schema) => schema.name)).toEqual(['terminal']);
    expect(requests[1]?.messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
    ]);
    expect(conversation).toMatchObject({ apiCalls: 2, usage: { total_tokens: 6, cost_usd: 0.5 } });
    expect(conversation.turns.map((turn) => turn.from)).toEqual(['human', 'gpt', 'tool', 'gpt']);
  });

  it('pairs any calls of any turns with their results by id, in order', async () => {
    const turns = fc.array(
      fc.array(fc.constantFrom('terminal', 'read_file', 'write_file'), {
        minLength: 1,
        maxLength: 4,
      }),
      { maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(turns, async (names) => {
        const replies = names.map((of, turn) =>
          reply(
            `turn ${turn}`,
            of.map((name, index) => call(`${turn}-${index}`, name, { turn, index })),
          ),
        );
        const { conversation, ending } = await runLoop({
          replies: [...replies, ANSWER],
          tools: [echo, failing],
          validToolNames: ['terminal', 'read_file', 'write_file'],
        });
        expect(ending).toMatchObject({ outcome: 'completed' });
        const ids = replies.flatMap((of) => of.message.toolCalls.map(({ id }) => id));
        const results = conversation.turns.filter((turn) => turn.from === 'tool');
        expect(results.map((turn) => turn.tool_call_id)).toEqual(ids);
        for (const { name, value, tool_call_id } of results) {
          const [turn, index] = tool_call_id.split('-').map(Number);
          if (name === 'terminal') expect(JSON.parse(value)).toEqual({ echo: { turn, index } });
          else expect(JSON.parse(value)).toHaveProperty('error');
        }
        const flat = names.flat();
        expect(conversation.stats['terminal']).toMatchObject({
          success: flat.filter((name) => name === 'terminal').length,
          failure: 0,
        });
        expect(conversation.stats['write_file']).toMatchObject({
          success: 0,
          failure: flat.filter((name) => name === 'write_file').length,
        });
      }),
    );
  });

  it.each([
    ['{oops', /arguments of terminal are not valid JSON.*Call it again/],
    ['{"a":1', /not valid JSON/],
  ])('answers arguments that are no JSON (%s) by a result that says so', async (args, message) => {
    const { ending, shown } = await runLoop({
      replies: [reply('', [call('c', 'terminal', args)]), ANSWER],
      tools: [echo],
    });
    expect(ending).toMatchObject({ outcome: 'completed' });
    expect(shown[0]).toMatch(message);
  });

  it('takes empty arguments for none', async () => {
    const { shown } = await runLoop({
      replies: [reply('', [call('c', 'terminal', '')]), ANSWER],
      tools: [echo],
    });
    expect(shown).toEqual(['{"echo":{}}']);
  });

  it('says which tools there are when one is called that was not drawn', async () => {
    const { shown, ending } = await runLoop({
      replies: [reply('', [call('c', 'web_search')]), ANSWER],
      tools: [echo, failing],
      validToolNames: ['terminal', 'read_file', 'web_search'],
    });
    expect(shown[0]).toContain('web_search is not available');
    expect(shown[0]).toContain('Available: terminal, read_file');
    expect(ending).toMatchObject({ outcome: 'completed' });
  });

  it('ends at an invented tool, runs no other call of that turn, and answers each', async () => {
    let ran = 0;
    const counting = tool('terminal', async () => {
      ran += 1;
      return '{}';
    });
    const { ending, conversation, requests } = await runLoop({
      replies: [reply('', [call('a', 'terminal'), call('b', 'warp_drive')])],
      tools: [counting],
    });
    expect(ending).toMatchObject({ outcome: 'discarded/invalid_tool' });
    expect(ending).toHaveProperty('reason', expect.stringContaining('warp_drive'));
    expect(ran).toBe(0);
    expect(requests).toHaveLength(1);
    expect(conversation.turns.map((turn) => turn.tool_call_id)).toEqual(['', '', 'a', 'b']);
  });

  it('takes out secrets of what the model is sent and what is kept', async () => {
    const { requests, conversation } = await runLoop({
      replies: [reply('', [call('c', 'terminal', { key: 'S3CRET' })]), ANSWER],
      tools: [echo],
      redact: (text) => text.replaceAll('S3CRET', '[redacted]'),
    });
    expect(JSON.stringify(requests[1]?.messages.at(-1))).not.toContain('S3CRET');
    expect(JSON.stringify(conversation.turns)).not.toContain('S3CRET');
  });
});
