import { describe, expect, it } from 'vitest';
import { distributionsFileSchema } from '../../../src/core/toolsets/distribution.ts';
import { DISTRIBUTIONS } from '../../../src/core/toolsets/distributions.ts';
import { isToolsetName } from '../../../src/core/toolsets/registry.ts';

/** As Hermes lists them, in its order. */
const HERMES = `
default: web 100, vision 100, image_gen 100, terminal 100, file 100, moa 100, browser 100
image_gen: image_gen 90, vision 90, web 55, terminal 45, moa 10
research: web 90, browser 70, vision 50, moa 40, terminal 10
science: web 94, terminal 94, file 94, vision 65, browser 50, image_gen 15, moa 10
development: terminal 80, file 80, moa 60, web 30, vision 10
safe: web 80, browser 70, vision 60, image_gen 60, moa 50
balanced: web 50, vision 50, image_gen 50, terminal 50, file 50, moa 50, browser 50
minimal: web 100
terminal_only: terminal 100, file 100
terminal_web: terminal 100, file 100, web 100
creative: image_gen 90, vision 90, web 30
reasoning: moa 90, web 30, terminal 20
browser_use: browser 100, web 80, vision 70
browser_only: browser 100
browser_tasks: browser 97, vision 12, terminal 15
terminal_tasks: terminal 97, file 97, web 97, browser 75, vision 50, image_gen 10
mixed_tasks: browser 92, terminal 92, file 92, web 35, vision 15, image_gen 15
`;

describe('the distributions that ship', () => {
  it('are the 17 of Hermes with its percentages, in its order', () => {
    const listed = DISTRIBUTIONS.map(({ name, toolsets }) => {
      const percents = Object.entries(toolsets).map((entry) => entry.join(' '));
      return `${name}: ${percents.join(', ')}`;
    });
    expect(listed.join('\n')).toBe(HERMES.trim());
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
