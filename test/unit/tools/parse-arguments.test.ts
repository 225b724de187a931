import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseArguments } from '../../../src/core/tools/parse-arguments.ts';

const schema = z.object({
  name: z.string().min(1).max(5),
  count: z.int().min(1).max(9).default(3),
  all: z.boolean().default(false),
  mode: z.enum(['a', 'b']).default('a'),
  list: z.array(z.string()).max(1).optional(),
});
const parse = (given: unknown) =>
  parseArguments(schema, z.toJSONSchema(schema, { io: 'input' }), given);

describe('parseArguments', () => {
  it('fills in defaults', () => {
    expect(parse({ name: 'x' })).toEqual({
      ok: true,
      args: { name: 'x', count: 3, all: false, mode: 'a' },
    });
  });

  it('takes quoted numbers and booleans, null and unknown arguments', () => {
    const given = { name: 'x', count: '7', all: 'True', mode: null, other: 1 };
    expect(parse(given)).toEqual({
      ok: true,
      args: { name: 'x', count: 7, all: true, mode: 'a' },
    });
  });

  it('leaves text that looks like a number alone', () => {
    expect(parse({ name: '12' })).toMatchObject({ args: { name: '12' } });
  });

  it.each([
    [{}, 'name: expected string, got nothing'],
    [{ name: 5 }, 'name: expected string, got 5'],
    [{ name: '' }, 'name: expected at least 1 characters, got ""'],
    [{ name: '123456' }, 'name: expected at most 5 characters, got "123456"'],
    [{ name: 'x', count: 10 }, 'count: expected at most 9, got 10'],
    [{ name: 'x', count: 1.5 }, 'count: expected a whole number, got 1.5'],
    [{ name: 'x', count: 'many' }, 'count: expected number, got "many"'],
    [{ name: 'x', mode: 'c' }, 'mode: expected "a" or "b", got "c"'],
    [{ name: 'x', list: ['a', 'b'] }, 'list: expected at most 1 entries, got ["a","b"]'],
    [{ name: 'x', list: [1] }, 'list.0: expected string, got 1'],
    [[], 'arguments: expected object, got []'],
    ['text', 'arguments: expected object, got "text"'],
    [undefined, 'arguments: expected object, got nothing'],
    [{ name: 1, count: 0 }, 'name: expected string, got 1; count: expected at least 1, got 0'],
  ])('says what is wrong with %j', (given, error) => {
    expect(parse(given)).toEqual({ ok: false, error });
  });

  it('cuts what came to a readable length', () => {
    const parsed = parse({ name: 'y'.repeat(100_000) });
    expect(parsed).toMatchObject({ ok: false });
    expect(JSON.stringify(parsed).length).toBeLessThan(300);
  });
});
