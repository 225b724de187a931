import { describe, expect, it } from 'vitest';
import { parseV4a } from '../../../../src/core/tools/v4a/parse-v4a.ts';

describe('parseV4a', () => {
  it('reads all kinds of changes', () => {
    const patch = `talk
*** Begin Patch
*** Add File: new/a b.txt
+one
+
+*** Begin Patch

*** Delete File: gone
*** Update File: old
*** Move to: moved
@@ class A
@@ def f
 kept
-out
+in
*** End of File
*** Move File: from -> to
*** End Patch
*** Delete File: behind the end`;
    expect(parseV4a(patch)).toEqual({
      ok: true,
      changes: [
        { kind: 'add', path: 'new/a b.txt', lines: ['one', '', '*** Begin Patch'] },
        { kind: 'delete', path: 'gone' },
        {
          kind: 'update',
          path: 'old',
          moveTo: 'moved',
          hunks: [
            {
              anchors: ['class A', 'def f'],
              lines: [
                { sign: ' ', text: 'kept' },
                { sign: '-', text: 'out' },
                { sign: '+', text: 'in' },
              ],
              isAtEnd: true,
              patchLine: 11,
            },
          ],
        },
        { kind: 'update', path: 'from', moveTo: 'to', hunks: [] },
      ],
    });
  });

  it('reads one without its frame and with CRLF', () => {
    const parsed = parseV4a('*** Update File: f\r\n-a\r\n+b\r\n');
    expect(parsed).toMatchObject({
      ok: true,
      changes: [{ hunks: [{ lines: [{}, { text: 'b' }] }] }],
    });
  });

  it.each([
    ['', /^expected "\*\*\* Add File: path"/],
    ['--- a/f\n+++ b/f\n', /^expected "\*\*\* Add File: path"/],
    ['*** Update File: f\n*** End Patch', /^f: expected lines that begin/],
    ['*** Add File: f\nno plus', /^line 2 of the patch: expected every line.*"no plus"/],
    ['*** Delete File: f\n-x', /^line 2 of the patch: expected nothing/],
    [
      '*** Update File: f\n-x\n*** Rename File: g',
      /^line 3 of the patch: expected "\*\*\* Add File:"/,
    ],
    ['*** Move File: f g', /^line 1 of the patch: expected "\*\*\* Move File: old -> new"/],
    [`*** Update File: f\n${'@@\n-x\n'.repeat(1_001)}`, /at most 1000 hunks, got 1001/],
  ])('refuses %j', (patch, error) => {
    expect(parseV4a(patch)).toEqual({ ok: false, error: expect.stringMatching(error) });
  });
});
