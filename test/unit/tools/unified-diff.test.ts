import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits, findOccurrences } from '../../../src/core/tools/find-occurrences.ts';
import { unifiedDiff } from '../../../src/core/tools/unified-diff.ts';

function diffOf(before: string, oldText: string, newText: string): string {
  return unifiedDiff('f', before, findOccurrences(before, oldText, newText));
}

/** Applies a diff strictly: an independent reading of the format. */
function patched(before: string, diff: string): string {
  const source = before.split('\n');
  const out: string[] = [];
  let taken = 0;
  const take = (count: number) => {
    taken += count;
    return source.splice(0, count);
  };
  const apply: Record<string, (text: string, line: string) => void> = {
    '@': (_, line) => {
      const [, start, count] = /^@@ -(\d+),?(\d*) /.exec(line) ?? [];
      out.push(...take(Number(start) - (count === '0' ? 0 : 1) - taken));
    },
    ' ': (text) => {
      expect(take(1)).toEqual([text]);
      out.push(text);
    },
    '-': (text) => expect(take(1)).toEqual([text]),
    '+': (text) => out.push(text),
  };
  for (const line of diff.replace(/\n$/, '').split('\n').slice(2)) {
    apply[line.charAt(0)]?.(line.slice(1), line);
  }
  return [...out, ...source].join('\n');
}

describe('unifiedDiff', () => {
  it('shows a change with three lines around it', () => {
    const before = '1\n2\n3\n4\n5\n6\n7\n8\n9\n';
    expect(diffOf(before, '5', 'five\nand a half')).toBe(
      '--- a/f\n+++ b/f\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+and a half\n 6\n 7\n 8\n',
    );
  });

  it('makes one hunk of near changes and two of far ones', () => {
    const lines = (gap: number) => `x\n${'-\n'.repeat(gap)}x\n`;
    expect(diffOf(lines(6), 'x', 'y').match(/^@@/gm)).toHaveLength(1);
    expect(diffOf(lines(7), 'x', 'y').match(/^@@.*/gm)).toEqual([
      '@@ -1,4 +1,4 @@',
      '@@ -6,4 +6,4 @@',
    ]);
  });

  it('says where no newline ends the file', () => {
    expect(diffOf('a\nb', 'b', 'c')).toContain(
      '-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n',
    );
  });

  it('deletes whole lines without touching their neighbours', () => {
    expect(diffOf('a\nb\nc\n', 'b\n', '')).toBe('--- a/f\n+++ b/f\n@@ -1,3 +1,2 @@\n a\n-b\n c\n');
  });

  it('gives back the new text when applied', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 60 });
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(text, part, text, (before, oldText, newText) => {
        // The reader above does not tell a last line with newline from one without.
        const whole = `${before}\n`;
        const edits = findOccurrences(whole, oldText, newText);
        const after = applyEdits(whole, edits);
        fc.pre(edits.length > 0 && after.endsWith('\n'));
        expect(after).toBe(whole.replaceAll(oldText, () => newText));
        expect(patched(whole, unifiedDiff('f', whole, edits))).toBe(after);
      }),
      { seed: 7, numRuns: 2_000 },
    );
  });

  it('takes a change of very many lines', () => {
    const before = 'x\n'.repeat(200_000);
    const edits = [{ start: 0, end: before.length, text: 'y\n'.repeat(200_000) }];
    expect(unifiedDiff('f', before, edits).match(/^-x$/gm)).toHaveLength(200_000);
  });
});

describe('findOccurrences', () => {
  it('finds plain newlines in a CRLF file, and writes CRLF', () => {
    const before = 'a\r\nb\r\nc\r\n';
    expect(applyEdits(before, findOccurrences(before, 'a\nb', 'x\ny'))).toBe('x\r\ny\r\nc\r\n');
  });

  it('counts no overlapping ones', () => {
    expect(findOccurrences('aaaa', 'aa', 'b')).toHaveLength(2);
  });
});
