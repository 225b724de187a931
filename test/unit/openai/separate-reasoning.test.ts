import { expect, test } from 'vitest';
import { type RawReply, separateReasoning } from '../../../src/core/trajectory/reasoning.ts';

const PAD = (inside: string) => `<REASONING_SCRATCHPAD>${inside}</REASONING_SCRATCHPAD>`;

test.each<[string, RawReply, string, string]>([
  ['plain text', { content: 'Hi' }, 'Hi', ''],
  ['null content', { content: null }, '', ''],
  ['no fields', {}, '', ''],
  ['content of another type', { content: 7 }, '', ''],
  ['reasoning', { content: 'Hi', reasoning: ' why ' }, 'Hi', 'why'],
  ['reasoning_content', { content: 'Hi', reasoning_content: 'why' }, 'Hi', 'why'],
  ['both fields', { content: 'Hi', reasoning: 'why', reasoning_content: 'why' }, 'Hi', 'why'],
  ['an empty first field', { content: 'Hi', reasoning: '', reasoning_content: 'why' }, 'Hi', 'why'],
  ['a field of another type', { content: 'Hi', reasoning: { text: 'why' } }, 'Hi', ''],
  [
    'details with text',
    { reasoning_details: [{ type: 'reasoning.text', text: 'a' }, { text: 'b' }] },
    '',
    'a\n\nb',
  ],
  [
    'details with a summary',
    { reasoning_details: [{ type: 'reasoning.summary', summary: 'a' }] },
    '',
    'a',
  ],
  [
    'encrypted details',
    { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }, null] },
    '',
    '',
  ],
  [
    'text parts',
    { content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }, 7] },
    'ab',
    '',
  ],
  [
    'thinking parts',
    {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'why' }] },
        { type: 'text', text: 'Hi' },
      ],
    },
    'Hi',
    'why',
  ],
  ['think tags', { content: '<think>\nwhy\n</think>\n\nHi' }, 'Hi', 'why'],
  ['white space before the tag', { content: '\n <think>why</think>Hi ' }, 'Hi ', 'why'],
  ['two blocks', { content: '<think>a</think><think>b</think>Hi' }, 'Hi', 'a\n\nb'],
  ['an empty block', { content: '<think>\n\n</think>\nHi' }, 'Hi', ''],
  ['an unclosed block', { content: '<think>why and' }, '', 'why and'],
  ['a close without an open', { content: 'why\n</think>\n\nHi' }, 'Hi', 'why'],
  ['a tag spoken of', { content: 'Use </think> to close it' }, 'Use </think> to close it', ''],
  [
    'tags later in the text',
    { content: 'Write <think>x</think>\nso' },
    'Write <think>x</think>\nso',
    '',
  ],
  [
    'a bare close beside a field',
    { content: 'a\n</think>\nb', reasoning: 'why' },
    'a\n</think>\nb',
    'why',
  ],
  ['a scratchpad', { content: `${PAD('why')}\nHi` }, 'Hi', 'why'],
  ['scratchpads within the text', { content: `A ${PAD('a')} B ${PAD('b')}` }, 'A  B', 'a\n\nb'],
  ['an unclosed scratchpad', { content: 'Hi <REASONING_SCRATCHPAD>why' }, 'Hi', 'why'],
  ['both kinds of tags', { content: `<think>a</think>${PAD('b')}Hi` }, 'Hi', 'a\n\nb'],
  [
    'a field and the same in tags',
    { content: '<think>why</think>Hi', reasoning: 'why' },
    'Hi',
    'why',
  ],
])('%s', (_, reply, content, reasoning) => {
  expect(separateReasoning(reply)).toMatchObject({ content, reasoning });
});

test('the text as it came is kept only where something was cut out of it', () => {
  expect(separateReasoning({ content: '<think>why</think>Hi' }).taggedContent).toBe(
    '<think>why</think>Hi',
  );
  expect(separateReasoning({ content: 'Hi', reasoning: 'why' }).taggedContent).toBeUndefined();
});

test('long text with many tags takes no more than linear time', () => {
  const text = '<think>'.repeat(100_000) + '</think>'.repeat(100_000);
  const started = performance.now();
  separateReasoning({ content: text });
  separateReasoning({ content: `x${text}` });
  separateReasoning({ content: '<REASONING_SCRATCHPAD>'.repeat(50_000) });
  expect(performance.now() - started).toBeLessThan(2_000);
});
