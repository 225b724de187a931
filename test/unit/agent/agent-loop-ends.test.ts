import { describe, expect, it } from 'vitest';
import { ModelError, type ModelFailure } from '../../../src/core/ports/model.ts';
import { SandboxLostError } from '../../../src/core/ports/sandbox.ts';
import { call, createHandClock, reply, runLoop, tool } from './scripted-loop.ts';

const echo = tool('terminal', async (args) => JSON.stringify({ echo: args }));
const ANSWER = reply('done');

describe('the agent loop stops', () => {
  it('when the turns are used up, with the last results there', async () => {
    const { ending, conversation, requests } = await runLoop({
      replies: [1, 2, 3].map((turn) => reply('', [call(`c${turn}`, 'terminal')])),
      tools: [echo],
      maxTurns: 3,
    });
    expect(ending).toEqual({ outcome: 'partial/turns', reason: 'no answer within 3 turns' });
    expect(requests).toHaveLength(3);
    expect(conversation.turns.at(-1)).toMatchObject({ from: 'tool', tool_call_id: 'c3' });
  });

  it('as completed when the last turn allowed brings the answer', async () => {
    expect(await runLoop({ replies: [ANSWER], maxTurns: 1 })).toMatchObject({
      ending: { outcome: 'completed' },
    });
  });

  it.each([
    ['length', 'partial/length'],
    ['content_filter', 'failed/content_filter'],
    ['stop', 'completed'],
    ['tool_calls', 'completed'],
  ] as const)('by a reply without calls that ended by %s', async (finish, outcome) => {
    const { ending } = await runLoop({ replies: [reply('x', [], finish)] });
    expect(ending).toMatchObject({ outcome });
  });

  it.each(['length', 'stop'] as const)(
    'not while there are calls, whatever is said: %s',
    async (finish) => {
      const { ending } = await runLoop({
        replies: [reply('', [call('c', 'terminal')], finish), ANSWER],
        tools: [echo],
      });
      expect(ending).toMatchObject({ outcome: 'completed' });
    },
  );

  it('when the time is up in a model call: partial if something was paid for', async () => {
    const clock = createHandClock();
    const hanging = async ({ signal }: { signal: AbortSignal }) => {
      queueMicrotask(() => clock.move(5_000));
      return await new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    };
    const first = reply('', [call('c', 'terminal')]);
    const late = await runLoop({
      replies: [first, hanging],
      tools: [echo],
      clock,
      timeoutMs: 4_000,
    });
    expect(late.ending).toEqual({ outcome: 'partial/time', reason: 'no answer within 4 s' });
    expect(late.conversation.turns).toHaveLength(3);
    const never = await runLoop({ replies: [hanging], clock, timeoutMs: 4_000 });
    expect(never.ending).toMatchObject({ outcome: 'failed/model_error' });
  });

  it('when the time is up in a tool, which is told', async () => {
    const clock = createHandClock();
    let leftBefore = 0;
    const slow = tool('terminal', async (_args, context) => {
      leftBefore = context.remainingMs();
      queueMicrotask(() => clock.move(4_000));
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
      return JSON.stringify({ left: context.remainingMs() });
    });
    const { ending, shown } = await runLoop({
      replies: [reply('', [call('c', 'terminal')])],
      tools: [slow],
      clock,
      timeoutMs: 4_000,
    });
    expect(leftBefore).toBe(4_000);
    expect(shown).toEqual(['{"left":0}']);
    expect(ending).toMatchObject({ outcome: 'partial/time' });
  });

  it('at the next turn when it is to hand back, without a model call', async () => {
    const stop = new AbortController();
    const stopping = tool('terminal', async () => {
      stop.abort();
      return '{}';
    });
    const { ending, requests } = await runLoop({
      replies: [reply('', [call('c', 'terminal')])],
      tools: [stopping],
      handBack: stop.signal,
    });
    expect(ending).toBe('handed_back');
    expect(requests).toHaveLength(1);
  });

  it('with the answer when that comes while it is to hand back', async () => {
    const stop = new AbortController();
    const answering = () => {
      stop.abort();
      return ANSWER;
    };
    expect(await runLoop({ replies: [answering], handBack: stop.signal })).toMatchObject({
      ending: { outcome: 'completed' },
    });
  });

  const failures: [ModelFailure, string][] = [
    ['failed/model_error', 'failed/model_error'],
    ['failed/auth', 'failed/auth'],
    ['failed/credits', 'failed/credits'],
    ['failed/rate_limited', 'failed/rate_limited'],
    ['failed/content_filter', 'failed/content_filter'],
    // Nothing was paid for, so there is no sample.
    ['partial/context', 'failed/model_error'],
  ];
  it.each(failures)('as the model says: %s', async (failure, outcome) => {
    const refusing = () => {
      throw new ModelError('the words of the provider', failure, 0);
    };
    const { ending } = await runLoop({ replies: [refusing] });
    expect(ending).toEqual({ outcome, reason: 'the words of the provider' });
    if (failure !== 'partial/context') return;
    const later = await runLoop({
      replies: [reply('', [call('c', 'terminal')]), refusing],
      tools: [echo],
    });
    expect(later.ending).toMatchObject({ outcome: 'partial/context' });
  });

  it.each([
    [new SandboxLostError('gone'), 'failed/sandbox_lost', 'gone'],
    [new Error('a bug'), 'failed/tool_crash', 'terminal: a bug'],
  ])('telling a lost sandbox from a crashed tool: %s', async (error, outcome, reason) => {
    const throwing = tool('terminal', () => Promise.reject(error));
    const { ending, shown } = await runLoop({
      replies: [reply('', [call('c', 'terminal')])],
      tools: [throwing],
    });
    expect(ending).toEqual({ outcome, reason });
    // Nothing of it is shown to the model.
    expect(shown).toEqual([]);
  });

  it('as internal for anything else', async () => {
    expect(await runLoop({ replies: [] })).toMatchObject({
      ending: { outcome: 'failed/internal' },
    });
  });
});
