import { describe, expect, it } from 'vitest';
import { nearestLines } from '../../../src/core/tools/nearest-lines.ts';

describe('nearestLines', () => {
  const content = 'import os\n\ndef compute_total(items):\n    return sum(items)\n';

  it('finds the line that was meant', () => {
    expect(nearestLines(content, '\ndef compute_totals(item):\n    pass')).toEqual([
      { line: 3, text: 'def compute_total(items):' },
    ]);
  });

  it.each(['', '\n\n', 'zzz qqq'])('finds nothing for %j', (wanted) => {
    expect(nearestLines(content, wanted)).toEqual([]);
  });

  it('gives three at most, the likest first', () => {
    const found = nearestLines('abcdef\nabcdeX\nabcdef\nabcdef\nabcdef\n', 'abcdef!');
    expect(found.map(({ line }) => line)).toEqual([1, 3, 4]);
  });
});
