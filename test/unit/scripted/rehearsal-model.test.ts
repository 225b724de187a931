import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRehearsalModel } from '../../../src/adapters/scripted/rehearsal-model.ts';
import type { ModelMessage } from '../../../src/core/ports/model.ts';
import { usageSchema } from '../../../src/core/trajectory/trajectory.ts';
import {
  calledNames,
  clock,
  complete,
  idsByTurns,
  KNOWN,
  model,
  OFFERED,
  play,
  type RunTool,
  WEIRD,
} from './play-rehearsal.ts';

describe('the story', () => {
  it('has 2 to 5 turns, by the prompt id', async () => {
    expect([...(await idsByTurns()).keys()].sort()).toEqual([2, 3, 4, 5]);
  });

  it('is the same for the same request, whatever was asked before', async () => {
    const first = await play('go', OFFERED, 'id-1');
    await play('other', OFFERED, 'id-2');
    expect(await play('go', OFFERED, 'id-1')).toEqual(first);
    expect(
      await createRehearsalModel({ clock }).complete({
        promptId: 'id-1',
        messages: first.messages.slice(0, 1),
        tools: OFFERED.map((name) => ({ name, description: '', parameters: {} })),
        signal: new AbortController().signal,
      }),
    ).toEqual(first.replies[0]);
  });

  it('says in the text and reasoning of every turn that it is a rehearsal', async () => {
    for (const { message } of (await play('go', OFFERED)).replies) {
      expect(message.reasoning).toMatch(/rehearsal.*no model/i);
      expect(message.content).toMatch(/rehearsal/i);
    }
    expect((await play('go', OFFERED)).replies.at(-1)).toMatchObject({
      finish: 'stop',
      message: { content: expect.stringContaining('no model was asked') },
    });
  });

  it('begins anew after a prefilled conversation', async () => {
    const { messages } = await play('example', KNOWN);
    const prefilled: ModelMessage[] = [
      { role: 'system', content: 's' },
      ...messages,
      { role: 'user', content: 'go' },
    ];
    const reply = await complete('p', prefilled, KNOWN);
    expect(reply.finish).toBe('tool_calls');
    expect(reply.message.toolCalls[0]?.arguments).toContain('go');
  });

  it('counts in its answer what its tools said', async () => {
    const failing: RunTool = (name) => (name === 'patch' ? '{"error":"no"}' : '{"output":"x"}');
    const id = (await idsByTurns()).get(5);
    const { replies } = await play('go', KNOWN, id, failing);
    expect(replies.at(-1)?.message.content).toContain('made: 5, of which succeeded: 4.');
  });
});

describe('its tool calls', () => {
  it('use the tools that are offered, and no other, with ids of their own', async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray(OFFERED), fc.string(), async (names, promptId) => {
        const story = await play('go', names, promptId);
        const usable = KNOWN.filter((name) => names.includes(name));
        expect(calledNames(story).filter((name) => !usable.includes(name))).toEqual([]);
        expect(calledNames(story).length > 0).toBe(usable.length > 0);
        const ids = story.replies.flatMap(({ message }) => message.toolCalls.map(({ id }) => id));
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  it('use all five over the prompts of a run', async () => {
    const used = new Set<string>();
    for (const id of (await idsByTurns()).values()) {
      for (const name of calledNames(await play('go', OFFERED, id))) used.add(name);
    }
    expect([...used].sort()).toEqual([...KNOWN].sort());
  });
});

describe('any prompt', () => {
  it('gives small, well-formed turns', async () => {
    const huge = 'long '.repeat(10_000_000);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.constantFrom(huge, ...WEIRD), fc.string({ unit: 'binary' })),
        fc.subarray(KNOWN),
        async (prompt, names) => {
          for (const { message, usage } of (await play(prompt, names)).replies) {
            const text = JSON.stringify(message);
            expect(text.length).toBeLessThan(2500);
            expect(text).not.toMatch(/\\u0000|\\\\u0000|\\ud[89a-f]/);
            expect(usageSchema.parse(usage)).toMatchObject({ cost_usd: 0, cached_tokens: 0 });
            expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
          }
        },
      ),
    );
  });
});

describe('the signal', () => {
  const request = (signal: AbortSignal) => ({
    promptId: 'p',
    messages: [{ role: 'user' as const, content: 'go' }],
    tools: [],
    signal,
  });

  it('ends a call that has not begun', async () => {
    const reason = new Error('stop');
    await expect(model.complete(request(AbortSignal.abort(reason)))).rejects.toBe(reason);
  });

  it('ends a call that takes its time', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const asked: number[] = [];
    const slow = createRehearsalModel({
      delayMs: 250,
      clock: {
        async sleep(milliseconds, signal) {
          asked.push(milliseconds);
          expect(signal).toBe(controller.signal);
          controller.abort(reason);
        },
      },
    });
    await expect(slow.complete(request(controller.signal))).rejects.toBe(reason);
    expect(asked).toEqual([250]);
  });
});
