import { describe, expect, it } from 'vitest';
import { distributionsFileSchema } from '../../../src/core/toolsets/distribution.ts';
import { DISTRIBUTIONS } from '../../../src/core/toolsets/distributions.ts';
import { isToolsetName } from '../../../src/core/toolsets/registry.ts';
import { HERMES_DISTRIBUTIONS } from '../../support/hermes-distributions.ts';

describe('the distributions that ship', () => {
  it('are the 17 of Hermes with its percentages, in its order', () => {
    const listed = DISTRIBUTIONS.map(({ name, toolsets }) => {
      const percents = Object.entries(toolsets).map((entry) => entry.join(' '));
      return `${name}: ${percents.join(', ')}`;
    });
    expect(listed.join('\n')).toBe(HERMES_DISTRIBUTIONS);
  });

  it('name known toolsets only and say what they are for', () => {
    for (const { description, toolsets } of DISTRIBUTIONS) {
      expect(description.length).toBeGreaterThan(10);
      expect(Object.keys(toolsets).filter((name) => !isToolsetName(name))).toEqual([]);
    }
  });
});

describe('distributionsFileSchema', () => {
  it('keeps names, order and percentages', () => {
    const file = {
      mine: { description: 'My mix', toolsets: { web: 12.5, file: 100, terminal: 0 } },
      other: { toolsets: { todo: 1 } },
    };
    const parsed = distributionsFileSchema.parse(JSON.parse(JSON.stringify(file)));
    expect(parsed).toEqual([
      { name: 'mine', ...file.mine },
      { name: 'other', description: '', ...file.other },
    ]);
    expect(Object.keys(parsed[0]?.toolsets ?? {})).toEqual(['web', 'file', 'terminal']);
  });

  it.each([
    ['a list', [], []],
    ['an unknown toolset', { a: { toolsets: { webb: 5 } } }, ['a', 'toolsets', 'webb']],
    ['no toolset', { a: { toolsets: {} } }, ['a', 'toolsets']],
    ['no toolsets', { a: {} }, ['a', 'toolsets']],
    ['over 100', { a: { toolsets: { web: 101 } } }, ['a', 'toolsets', 'web']],
    ['below 0', { a: { toolsets: { web: -1 } } }, ['a', 'toolsets', 'web']],
    ['a percentage as text', { a: { toolsets: { web: '50' } } }, ['a', 'toolsets', 'web']],
    ['a misspelt field', { a: { toolsets: { web: 5 }, tools: {} } }, ['a']],
    ['a bad name', { 'a b': { toolsets: { web: 5 } } }, ['a b']],
  ])('refuses %s', (_name, file, path) => {
    const parsed = distributionsFileSchema.safeParse(file);
    expect(parsed.error?.issues[0]?.path).toEqual(path);
  });
});
