import type { Case } from './case.ts';

const v4a = (lines: string) => ({
  mode: 'patch',
  patch: `*** Begin Patch\n${lines}\n*** End Patch`,
});

export const PATCH: Case[] = [
  {
    tool: 'patch',
    args: { mode: 'replace', path: 'w/a.txt', old_string: 'two', new_string: 'TWO' },
    look: 'cat w/a.txt',
  },
  {
    tool: 'patch',
    args: { mode: 'replace', path: 'w/a.txt', old_string: 'e', new_string: 'E' },
    look: 'cat w/a.txt',
  },
  {
    tool: 'patch',
    args: { mode: 'replace', path: 'w/a.txt', old_string: 'e', new_string: 'E', replace_all: true },
    look: 'cat w/a.txt',
  },
  {
    tool: 'patch',
    args: { mode: 'replace', path: 'w/a.txt', old_string: 'four', new_string: '4' },
    look: 'cat w/a.txt',
  },
  { tool: 'patch', args: { mode: 'replace', path: 'w/missing', old_string: 'a', new_string: 'b' } },
  {
    tool: 'patch',
    args: v4a(
      '*** Add File: p/new.py\n+def f():\n+    return 1\n*** Update File: w/a.txt\n@@\n onE\n-TWO\n+2',
    ),
    look: 'cat p/new.py w/a.txt',
    why: 'an added file of ours ends in a newline, as text files do',
  },
  {
    tool: 'patch',
    args: v4a('*** Update File: w/a.txt\n-onE\n+1\n*** Delete File: p/none'),
    look: 'cat w/a.txt',
  },
  {
    tool: 'patch',
    args: v4a('*** Update File: p/new.py\n@@ def f():\n-return 1\n+return 2'),
    look: 'cat p/new.py',
  },
  { tool: 'patch', args: v4a('*** Move File: p/new.py -> p/moved.py'), look: 'ls p' },
  {
    tool: 'patch',
    args: v4a('*** Update File: p/moved.py\n*** Move to: p/again.py\n-def f():\n+def g():'),
    look: 'ls p; cat p/*',
    why: '`*** Move to:` is part of the V4A form; Hermes knows only `*** Move File: a -> b`, which ours takes too',
  },
  { tool: 'patch', args: v4a('*** Delete File: w/b.txt'), look: 'ls w/b.txt 2>/dev/null' },
  {
    tool: 'patch',
    args: v4a('*** Add File: w/long\n+x'),
    look: 'wc -l < w/long',
    why: 'ours adds no file over one that is there; Hermes replaces it',
  },
  {
    tool: 'terminal',
    args: { command: "printf 'a\\nx\\nb\\nx\\nc\\n' > twice; printf 'a\\r\\nb\\r\\n' > crlf" },
  },
  { tool: 'patch', args: v4a('*** Update File: twice\n-x\n+y'), look: 'cat twice' },
  { tool: 'patch', args: v4a('*** Update File: crlf\n a\n-b\n+B'), look: 'od -c crlf | head -1' },
  { tool: 'patch', args: { mode: 'patch', patch: 'no patch at all' } },
];
