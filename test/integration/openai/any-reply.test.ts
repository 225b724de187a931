import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ModelError } from '../../../src/core/ports/model.ts';
import { usageSchema } from '../../../src/core/trajectory/trajectory.ts';
import { ask, underTest } from './model-under-test.ts';

const json = fc.jsonValue({ maxDepth: 4 });
/** Something that looks like `fields` with any of them missing or of any type. */
function like(fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> {
  const loose = Object.fromEntries(
    Object.entries(fields).map(([name, of]) => [
      name,
      fc.oneof({ weight: 9, arbitrary: of }, json),
    ]),
  );
  return fc.oneof(
    { weight: 4, arbitrary: fc.record(loose) },
    fc.record(loose, { requiredKeys: [] }),
  );
}
const words = fc.oneof(
  fc.string(),
  fc.constantFrom('<think>', '</think>\n', '<REASONING_SCRATCHPAD>'),
);
const text = fc.array(words).map((parts) => parts.join(''));
const call = like({ id: fc.string(), function: like({ name: text, arguments: text }) });
const details = fc.array(like({ type: text, text, summary: text }));
const message = like({
  content: text,
  reasoning: text,
  reasoning_content: text,
  reasoning_details: details,
  tool_calls: fc.array(call),
});
const usage = like({ prompt_tokens: fc.double(), cost: fc.double(), prompt_tokens_details: json });
const error = like({ code: fc.integer({ min: 0, max: 700 }), message: text, metadata: json });
const choice = like({ message, finish_reason: fc.constantFrom('stop', 'length') });
const body = fc.oneof(
  json,
  { weight: 6, arbitrary: like({ choices: fc.tuple(choice), usage }) },
  like({ choices: fc.tuple(choice), usage, error }),
  like({ error }),
);

test('any answer is a reply of the declared shape or a ModelError', async () => {
  let next: { status: number; body: unknown } = { status: 200, body: '' };
  const { model } = await underTest(() => ({ status: next.status, body: next.body }), {
    ephemeralSystemPrompt: 'A hidden prompt of some length.',
  });
  let replies = 0;
  const answers = fc.tuple(fc.constantFrom(200, 200, 200, 400, 403, 429, 500), body);
  await fc.assert(
    fc.asyncProperty(answers, async ([status, value]) => {
      next = { status, body: JSON.stringify(value) };
      try {
        const reply = await model.complete(ask());
        replies += 1;
        expect(usageSchema.safeParse(reply.usage).success).toBe(true);
        expect(typeof reply.message.content).toBe('string');
        expect(typeof reply.message.reasoning).toBe('string');
        const ids = reply.message.toolCalls.map((made) => made.id);
        expect(new Set(ids).size).toBe(ids.length);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(ModelError);
      }
    }),
    { numRuns: 400, seed: 20260101 },
  );
  expect(replies).toBeGreaterThan(50);
}, 60_000);
