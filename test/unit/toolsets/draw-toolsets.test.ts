import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Distribution } from '../../../src/core/toolsets/distribution.ts';
import { DISTRIBUTIONS } from '../../../src/core/toolsets/distributions.ts';
import {
  DistributionUnavailableError,
  drawToolsets,
} from '../../../src/core/toolsets/draw-toolsets.ts';
import { TOOLSET_NAMES } from '../../../src/core/toolsets/registry.ts';

const digests = new Map<string, string>();
/** SHA-256 that remembers: the 17 distributions ask for the same draws. */
function sha256Hex(text: string): string {
  const known = digests.get(text);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(text).digest('hex');
  digests.set(text, digest);
  return digest;
}

const ALL: ReadonlySet<string> = new Set(TOOLSET_NAMES);
const PROMPTS = 10_000;

function draw(distribution: Distribution, promptId: string, available = ALL, seed = 42) {
  return drawToolsets({ distribution, available, seed, promptId, sha256Hex });
}

function named(name: string): Distribution {
  const found = DISTRIBUTIONS.find((distribution) => distribution.name === name);
  if (found === undefined) throw new Error(`no distribution ${name}`);
  return found;
}

function rates(distribution: Distribution): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let prompt = 0; prompt < PROMPTS; prompt += 1) {
    for (const name of draw(distribution, `prompt-${prompt}`)) {
      counts[name] = (counts[name] ?? 0) + 100 / PROMPTS;
    }
  }
  return counts;
}

/** Percent by which a toolset is drawn, the rule of at least one included. */
function exactRates({ toolsets }: Distribution): Record<string, number> {
  const percents = Object.values(toolsets);
  const none = percents.reduce((rest, percent) => rest * (1 - percent / 100), 100);
  const likeliest = percents.indexOf(Math.max(...percents));
  return Object.fromEntries(
    Object.entries(toolsets).map(([name, percent], index) => [
      name,
      percent + (index === likeliest ? none : 0),
    ]),
  );
}

describe('drawToolsets', () => {
  it('has the exact rates that the rule of at least one gives', () => {
    expect(exactRates(named('reasoning'))['moa']).toBeCloseTo(95.6);
    expect(exactRates(named('balanced'))['web']).toBeCloseTo(50.78, 2);
  });

  it.each(DISTRIBUTIONS)('$name: each rate is within 1.5 points of the exact one', (of) => {
    const measured = rates(of);
    const exact = exactRates(of);
    expect(Object.keys(measured).sort()).toEqual(Object.keys(exact).sort());
    for (const [name, percent] of Object.entries(exact)) {
      expect(Math.abs((measured[name] ?? 0) - percent), name).toBeLessThan(1.5);
    }
  });

  it('draws toolsets independently of each other', () => {
    let both = 0;
    for (let prompt = 0; prompt < PROMPTS; prompt += 1) {
      const drawn = draw(named('balanced'), `prompt-${prompt}`);
      if (drawn.includes('terminal') && drawn.includes('file')) both += 100 / PROMPTS;
    }
    expect(Math.abs(both - 25)).toBeLessThan(1.5);
  });

  it('is the same again, and another for another seed or prompt', () => {
    const lists = (seed: number, prefix: string) =>
      Array.from({ length: 50 }, (_, index) =>
        draw(named('balanced'), `${prefix}-${index}`, ALL, seed).join(),
      ).join(';');
    expect(lists(1, 'a')).toBe(lists(1, 'a'));
    expect(lists(1, 'a')).not.toBe(lists(2, 'a'));
    expect(lists(1, 'a')).not.toBe(lists(1, 'b'));
  });

  it('leaves out what does not work here without changing the other draws', () => {
    const available = new Set(['terminal', 'file', 'browser']);
    for (let prompt = 0; prompt < 500; prompt += 1) {
      const whole = draw(named('mixed_tasks'), `prompt-${prompt}`);
      const expected = whole.filter((name) => available.has(name));
      expect(draw(named('mixed_tasks'), `prompt-${prompt}`, available)).toEqual(
        expected.length > 0 ? expected : ['browser'],
      );
    }
  });

  it.each([
    ['the most probable', { web: 0, file: 0, terminal: 0.000001 }, ['terminal']],
    ['of equals the first listed', { web: 0, terminal: 0, file: 0 }, ['terminal']],
  ])('takes %s where none was drawn', (_name, toolsets, expected) => {
    const available = new Set(['file', 'terminal']);
    expect(draw({ name: 'mine', description: '', toolsets }, 'p', available)).toEqual(expected);
  });

  it('always draws what has 100 percent', () => {
    for (let prompt = 0; prompt < 1000; prompt += 1) {
      expect(draw(named('terminal_only'), `prompt-${prompt}`)).toEqual(['terminal', 'file']);
    }
  });

  it('refuses a distribution of which nothing works, naming what is missing', () => {
    const drawing = () => draw(named('creative'), 'p', new Set(['terminal', 'file']));
    expect(drawing).toThrow(DistributionUnavailableError);
    expect(drawing).toThrow(/"creative".*image_gen, vision, web\), got terminal, file/);
    expect(() => draw(named('minimal'), 'p', new Set())).toThrow(/got none$/);
  });
});
