import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../../../src/core/tools/find-occurrences.ts';
import { hunkEdits } from '../../../../src/core/tools/v4a/apply-hunks.ts';
import { parseV4a } from '../../../../src/core/tools/v4a/parse-v4a.ts';

/** The content after a patch's hunks, or its problems. */
function patched(content: string, hunks: string): string | string[] {
  const parsed = parseV4a(`*** Begin Patch\n*** Update File: f\n${hunks}\n*** End Patch`);
  if (!parsed.ok) return [parsed.error];
  const [change] = parsed.changes;
  if (change?.kind !== 'update') throw new Error('expected an update');
  const found = hunkEdits(content, change.hunks);
  return found.ok ? applyEdits(content, found.edits) : found.problems;
}

const FILE = 'class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 1\n';

describe('hunkEdits', () => {
  it.each([
    [
      'a change',
      '@@\n     def f(self):\n-        return 1\n+        return 2',
      FILE.replace('1', '2'),
    ],
    [
      'behind its @@ line',
      '@@ def g(self):\n-        return 1\n+        return 3',
      FILE.replace(/1\n$/, '3\n'),
    ],
    [
      'behind two @@ lines',
      '@@ class A:\n@@ def g\n-        return 1\n+        return 3',
      FILE.replace(/1\n$/, '3\n'),
    ],
    [
      'with numbers after @@',
      '@@ -1,2 +1,2 @@ class A:\n-    def g(self):\n+    def h(self):',
      FILE.replace('def g', 'def h'),
    ],
    [
      'the @@ line as context too',
      '@@ class A: @@\n class A:\n-    def f(self):\n+    def e(self):',
      FILE.replace('def f', 'def e'),
    ],
    [
      'an insertion behind its @@ line',
      '@@ class A:\n+    x = 1',
      FILE.replace(':\n', ':\n    x = 1\n'),
    ],
    [
      'at the end of the file',
      '-        return 1\n+        return 9\n*** End of File',
      FILE.replace(/1\n$/, '9\n'),
    ],
    ['an insertion at the end', '+# end\n*** End of File', `${FILE}# end\n`],
    [
      'other blanks at line ends',
      '-    def f(self):  \n+    def e(self):',
      FILE.replace('def f', 'def e'),
    ],
    [
      'other indentation, taken over',
      ' def f(self):\n-    return 1\n+    if x:\n+        return 2',
      FILE.replace('return 1', 'if x:\n            return 2'),
    ],
    [
      'a forgotten space',
      'class A:\n-    def f(self):\n+    def e(self):',
      FILE.replace('def f', 'def e'),
    ],
    [
      'a bare blank line',
      '-        return 1\n\n-    def g(self):\n+        return 5\n+\n+    def h(self):',
      FILE.replace('1\n\n    def g', '1\n\n    def h'),
    ],
    [
      'two hunks',
      '@@\n-    def f(self):\n+    def e(self):\n@@\n-    def g(self):\n+    def h(self):',
      FILE.replace('def f', 'def e').replace('def g', 'def h'),
    ],
    [
      'two hunks in the wrong order',
      '@@\n-    def g(self):\n+    def h(self):\n@@\n-    def f(self):\n+    def e(self):',
      FILE.replace('def f', 'def e').replace('def g', 'def h'),
    ],
    [
      'twice the same line, one after the other',
      '@@\n     def f(self):\n-        return 1\n+        return 2\n@@\n-        return 1\n+        return 3',
      FILE.replace('1', '2').replace('1', '3'),
    ],
  ])('takes %s', (name, hunks, expected) => {
    const result = patched(FILE, hunks);
    if (name === 'a bare blank line') {
      expect(result).toContain('return 5\n\n    def h(self)');
    } else expect(result).toBe(expected);
  });

  it.each([
    [
      'lines that are not there',
      '@@ def g\n-        return 7\n+        return 2',
      /^hunk 1 \(line 3 of the patch\): its line " {8}return 7" does not occur.*\n3\|/,
    ],
    ['lines not together', '-class A:\n-        return 1', /all there, but not one after another/],
    [
      'two places',
      '@@\n-        return 1\n+        return 2',
      /occur 2 times \(lines 3, 6\).*"@@ "/,
    ],
    ['no place', '@@\n+x', /does not say where.*"\*\*\* End of File"/],
    [
      'an @@ line that is not there',
      '@@ class B:\n+x',
      /"@@ class B:" does not occur.*\n1\|class A:/,
    ],
  ])('refuses %s, naming the hunk', (_, hunks, problem) => {
    expect(patched(FILE, hunks)).toEqual([expect.stringMatching(problem)]);
  });

  it.each([
    ['keeps CRLF', 'a\r\nb\r\nc\r\n', ' a\n-b\n+B\n+C', 'a\r\nB\r\nC\r\nc\r\n'],
    ['keeps a missing newline at the end', 'a\nb', '-b\n+B', 'a\nB'],
    ['adds behind a missing newline', 'a\nb', ' b\n+c', 'a\nb\nc'],
    ['fills an empty file', '', '+a\n+b', 'a\nb\n'],
    ['empties a file', 'a\nb\n', '-a\n-b', ''],
    [
      'takes lines that look like headers',
      '*** Add\n',
      '-*** Add\n+*** End Patch',
      '*** End Patch\n',
    ],
  ])('%s', (_, content, hunks, expected) => {
    expect(patched(content, hunks)).toBe(expected);
  });

  const word = fc.constantFrom(
    'a',
    'b',
    '  a',
    'if x:',
    '',
    '\tb',
    '}',
    'é',
    '*** x',
    '@@ y',
    '-',
    '+',
  );
  const edit = fc.record({
    at: fc.nat(40),
    remove: fc.nat(3),
    add: fc.array(word, { maxLength: 3 }),
  });

  it('makes random edits of distinct lines exactly, whatever the newlines', () => {
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 30 }),
        fc.array(edit, { minLength: 1, maxLength: 5 }),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        (words, edits, newline, endsInNewline) => {
          // A number makes every line distinct, so that each has one place.
          const lines = words.map((text, index) => `${text}#${index}`);
          const { hunks, after } = made(lines, edits, 1);
          const text = (of: readonly string[]) =>
            of.join(newline) + (endsInNewline && of.length > 0 ? newline : '');
          fc.pre(after.length > 0 && hunks !== '' && text(lines).includes(newline));
          const result = String(patched(text(lines), hunks));
          // The line before a deleted last one keeps its newline.
          const trimmed = (of: string) => (endsInNewline ? of : of.replace(/\r?\n$/, ''));
          expect(trimmed(result)).toBe(trimmed(text(after)));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('never changes the wrong one of equal lines', () => {
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 30 }),
        fc.array(edit, { minLength: 1, maxLength: 3 }),
        fc.nat(3),
        (lines, edits, context) => {
          const { hunks, after } = made(lines, edits, context);
          fc.pre(hunks !== '');
          const result = patched(lines.map((line) => `${line}\n`).join(''), hunks);
          if (typeof result === 'string') expect(result.split('\n').slice(0, -1)).toEqual(after);
          else expect(result.join()).toMatch(/times|where|begin with "-"/);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

interface Change {
  at: number;
  remove: number;
  add: string[];
}

/** Hunks, each with its context lines, for edits that don't touch each other; and what they make. */
function made(lines: readonly string[], edits: readonly Change[], context: number) {
  const hunks: string[] = [];
  const after: string[] = [];
  let done = 0;
  const sorted = edits.map((of) => ({ ...of, at: of.at % (lines.length + 1) }));
  for (const { at, remove, add } of sorted.sort((a, b) => a.at - b.at)) {
    const from = at - context;
    const to = Math.min(lines.length, at + remove);
    if (from < done || (to === at && add.length === 0)) continue;
    const before = lines.slice(from, at);
    const removed = lines.slice(at, to);
    after.push(...lines.slice(done, at), ...add);
    const behind = lines.slice(to, to + context);
    hunks.push(
      '@@',
      ...before.map((line) => ` ${line}`),
      ...removed.map((line) => `-${line}`),
      ...add.map((line) => `+${line}`),
      ...behind.map((line) => ` ${line}`),
    );
    after.push(...behind);
    done = to + behind.length;
  }
  after.push(...lines.slice(done));
  return { hunks: hunks.join('\n'), after };
}
