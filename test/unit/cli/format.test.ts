import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fitLine,
  formatBytes,
  formatCost,
  formatDuration,
  formatShare,
  oneSafeLine,
  safeText,
} from '../../../src/cli/terminal/format.ts';

const STEERING = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

describe('oneSafeLine', () => {
  it.each([
    ['red \u001b[31mtext\u001b[0m', 'red  [31mtext [0m'],
    ['two\r\nlines', 'two lines'],
    ['\u009b2J\u0007bell', ' 2J bell'],
    ['turned \u202eround', 'turned  round'],
    ['plain ünïcödé 😀', 'plain ünïcödé 😀'],
  ])('%j', (text, shown) => {
    expect(oneSafeLine(text, 100)).toBe(shown);
  });

  it('lets nothing through that steers, and is at most a mark longer than asked', () => {
    const text = fc.string({ unit: 'binary', maxLength: 200 });
    fc.assert(
      fc.property(text, fc.nat(100), (given, length) => {
        const shown = oneSafeLine(given, length);
        expect(shown).not.toMatch(STEERING);
        expect(shown.length).toBeLessThanOrEqual(length + 1);
      }),
    );
  });

  it('cuts between characters', () => {
    expect(oneSafeLine('a😀b', 2)).toBe('a…');
  });
});

describe('safeText', () => {
  it('keeps line ends and nothing else that steers', () => {
    expect(safeText('a\n\u001b[2Jb\r\n')).toBe('a\n·[2Jb·\n');
  });
});

describe('fitLine', () => {
  it('is always narrower than the terminal', () => {
    fc.assert(
      fc.property(fc.nat(300), fc.integer({ min: 2, max: 200 }), (length, columns) => {
        expect(fitLine('x'.repeat(length), columns).length).toBeLessThan(columns);
      }),
    );
  });
});

describe('numbers', () => {
  it.each([
    [formatDuration(0), '0.0 s'],
    [formatDuration(59.94), '59.9 s'],
    [formatDuration(59.96), '1 min 00 s'],
    [formatDuration(61), '1 min 01 s'],
    [formatDuration(3599.7), '1 h 00 min'],
    [formatDuration(90 * 3600), '90 h 00 min'],
    [formatCost(null), 'unknown'],
    [formatCost(0), '$0'],
    [formatCost(0.00123), '$0.0012'],
    [formatCost(12.345), '$12.35'],
    [formatShare(1, 3), '33.3 %'],
    [formatShare(0, 0), '-'],
    [formatBytes(1023), '1023 B'],
    [formatBytes(1536), '1.5 KiB'],
  ])('%s', (shown, wanted) => {
    expect(shown).toBe(wanted);
  });
});
