import { beforeEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../../src/core/ports/sandbox.ts';
import { toolSucceeded } from '../../../../src/core/trajectory/tool-stats.ts';
import { runIn } from '../../../support/sandbox-run.ts';
import { toolCaller, useToolSandbox } from '../../../support/sandbox-tools.ts';

const SETUP = `
printf 'one\\ntwo\\nthree\\n' > a.txt
printf 'x\\0y' > binary
printf '#!/bin/sh\\necho hi\\n' > run.sh; chmod 750 run.sh
mkdir folder; ln -s a.txt link; echo bye > gone
`;
/** Every file with its mode and content. */
const LOOK = `find . -type f -o -type l | sort | while read -r f; do stat -c '%n %a %F' "$f"; cat "$f"; done`;

describe('patch, V4A form', () => {
  const { open } = useToolSandbox();
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await open();
    await runIn(sandbox, SETUP);
  });
  const patch = (lines: string) =>
    toolCaller(sandbox)('patch', {
      mode: 'patch',
      patch: `*** Begin Patch\n${lines}\n*** End Patch`,
    });
  const look = async () => (await runIn(sandbox, LOOK)).text;

  it('adds, updates, moves and deletes at once', async () => {
    const result = await patch(`*** Add File: new/b.txt
+b
*** Update File: a.txt
@@
 one
-two
+TWO
*** Update File: run.sh
*** Move to: bin/go
-echo hi
+echo ho
*** Move File: binary -> folder/moved
*** Delete File: gone`);
    expect(result).toEqual({
      success: true,
      diff: `--- /dev/null
+++ b/new/b.txt
@@ -0,0 +1 @@
+b
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
--- a/run.sh
+++ b/bin/go
@@ -1,2 +1,2 @@
 #!/bin/sh
-echo hi
+echo ho
rename from binary
rename to folder/moved
--- a/gone
+++ /dev/null
`,
      files_modified: ['a.txt', 'bin/go'],
      files_created: ['new/b.txt'],
      files_deleted: ['gone'],
      files_moved: ['run.sh -> bin/go', 'binary -> folder/moved'],
    });
    expect(await look()).toBe(
      `./a.txt 644 regular file\none\nTWO\nthree\n./bin/go 750 regular file\n#!/bin/sh\necho ho\n./folder/moved 644 regular file\nx\0y./link 777 symbolic link\none\nTWO\nthree\n./new/b.txt 644 regular file\nb\n`,
    );
  });

  it('takes one file step by step within a patch', async () => {
    const result = await patch(`*** Update File: a.txt
-one
+1
*** Update File: ./a.txt
-two
+2
*** Delete File: run.sh
*** Add File: run.sh
+new`);
    expect(result).toMatchObject({ success: true });
    expect((await runIn(sandbox, 'cat a.txt run.sh')).text).toBe('1\n2\nthree\nnew\n');
  });

  it.each([
    [
      'a hunk that fits nowhere',
      '*** Add File: n\n+n\n*** Update File: a.txt\n-four\n+4',
      /^patch: nothing was changed, in no file:\na\.txt: hunk 1 \(line 5 of the patch\): its line "four" does not occur/,
    ],
    [
      'several problems',
      '*** Delete File: no\n*** Update File: nix\n-a\n*** Update File: a.txt\n-four',
      /no: no such file or folder.*\nnix: no such.*\na\.txt: hunk 1/,
    ],
    [
      'a file that is there',
      '*** Delete File: binary\n*** Add File: a.txt\n+x',
      /a\.txt: is there already; use "\*\*\* Update File"/,
    ],
    [
      'a target that is there',
      '*** Move File: run.sh -> a.txt',
      /a\.txt: is there already; delete it first/,
    ],
    [
      'a binary file',
      '*** Delete File: a.txt\n*** Update File: binary\n-x',
      /binary: is a binary file/,
    ],
    ['a folder', '*** Delete File: a.txt\n*** Delete File: folder', /folder: is a folder/],
    [
      'a file of before',
      '*** Delete File: a.txt\n*** Update File: a.txt\n-one',
      /a\.txt: was deleted or moved earlier/,
    ],
    [
      'a path that leads out',
      '*** Delete File: a.txt\n*** Add File: ../out\n+x',
      /\.\.\/out: leads out of the sandbox/,
    ],
    [
      'one file under two names',
      '*** Add File: n\n+n\n*** Update File: a.txt\n-one\n+1\n*** Update File: link\n-two\n+2',
      /link: was changed meanwhile, or is in the patch under two names.*put back/,
    ],
    [
      'a new file under two names',
      '*** Move File: run.sh -> r\n*** Add File: n\n+1\n*** Add File: folder/../n\n+2',
      /n: was changed meanwhile.*put back/,
    ],
    ['no change', '*** Update File: a.txt', /nothing was changed: a\.txt: expected lines/],
  ])('refuses %s, and changes nothing', async (_, lines, error) => {
    const before = await look();
    const result = await patch(lines);
    expect(result).toEqual({ success: false, error: expect.stringMatching(error) });
    expect(toolSucceeded(JSON.stringify(result))).toBe(false);
    expect(await look()).toBe(before);
  });

  it('puts back what was written when a write fails half way', async () => {
    const before = await look();
    const result = await patch(`*** Update File: a.txt
*** Move to: moved/a.txt
-one
+1
*** Add File: n
+n
*** Delete File: binary
*** Add File: moved/a.txt/below
+x`);
    expect(result).toMatchObject({
      error: expect.stringMatching(/moved\/a\.txt\/below: .*put back/),
    });
    expect(await look()).toBe(before);
  });
});
