import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOutputPipes } from '../../../src/adapters/sandbox/executor/output-pipes.ts';
import { createProcessGroups } from '../../../src/adapters/sandbox/executor/process-groups.ts';
import type { RipgrepDeps } from '../../../src/adapters/sandbox/executor/ripgrep-files.ts';
import { ripgrepFiles } from '../../../src/adapters/sandbox/executor/ripgrep-files.ts';
import { ripgrepPattern } from '../../../src/adapters/sandbox/executor/ripgrep-pattern.ts';
import { searchFiles } from '../../../src/adapters/sandbox/executor/search-files.ts';
import type { SearchRequest } from '../../../src/core/ports/sandbox.ts';
import { COMMAND_PATH } from '../../support/sandbox-provider.ts';
import { RIPGREP, skipsWithoutRipgrep } from './ripgrep-program.ts';

function request(pattern: string): SearchRequest {
  return {
    pattern,
    target: 'content',
    path: '.',
    context: 0,
    maxMatches: 1_000,
    timeoutMs: 10_000,
  };
}

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'talaria-rg-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe.skipIf(skipsWithoutRipgrep())('search with ripgrep beside the built-in one', () => {
  const CORPUS: Record<string, string | Uint8Array> = {
    'a.txt':
      'one\ntwo\n\nfoo_bar baz\nna\u00efve caf\u00e9 \u212a \u017f\n[x] (y) {z} a&&b a--b\n<t> -w \\d $1 ^\n',
    'b.txt': 'crlf one\r\ntwo\r\n\r\nlone\rreturn\r\n',
    'latin.txt': Buffer.from('caf\u00e9 na\u00efve\n\u00e2\u0082x\n', 'latin1'),
    'bom.txt': '\ufeffone\ntwo',
    'utf16.txt': Buffer.from('\ufeffone two\n', 'utf16le'),
    'nul.bin': 'one\0two\n',
    'late-nul.txt': `${'one\n'.repeat(3_000)}\0two\n`,
    'sub/.gitignore': '*\n',
    'sub/ignored.log': 'one two 42\n',
    'sub-x/c d.txt': 'tabs\there  \n  42 \n',
    'empty.txt': '',
  };

  let corpus: string;
  let deps: RipgrepDeps;
  beforeAll(async () => {
    corpus = join(root, 'corpus');
    for (const [name, content] of Object.entries(CORPUS)) {
      await mkdir(dirname(join(corpus, name)), { recursive: true });
      await writeFile(join(corpus, name), content);
    }
    await writeFile(join(corpus, '.ignore'), '*');
    await symlink('a.txt', join(corpus, 'link.txt'));
    const mkfifo = { file: 'mkfifo', path: COMMAND_PATH };
    const pipes = createOutputPipes({ folder: join(root, 'corpus-pipes'), mkfifo });
    deps = {
      program: RIPGREP ?? 'ripgrep is not installed',
      mark: 'test',
      pipes,
      groups: createProcessGroups(),
    };
  });

  it.each([
    'one',
    '^one$',
    'two$',
    '^two',
    '^$',
    '^.$',
    '.',
    '^...$',
    'caf.',
    'caf[^a]$',
    '^\\W+$',
    '\\w+ caf',
    '\\bfoo',
    'bar\\b',
    'o\\b',
    '\\d+',
    '\\D',
    '\\S\\s+$',
    '[\\d\\s]+$',
    '[^\\d]',
    'lone.return',
    '(?i)ONE',
    '(?i)k',
    '(?i)s',
    'a&&b',
    '[a&&b]',
    'a--b',
    '[&~^-]',
    '\\<t\\>',
    '\\\\d',
    '\\$1',
    '\\[x\\]',
    '\\{z\\}',
    '{z}',
    '(y)|(z)',
    '(?:foo|baz)',
    '\\t',
    '[\\t]',
    'na\u00efve',
    '[\u00e0-\u00ff]',
    'o{2}',
    '[[:digit:]]+',
    '\\pL+',
    '\\x6fne',
    '[^\\n]',
    '\\Aone',
    'two\\z',
    '-w',
    '--',
  ])('finds the same by %s', async (pattern) => {
    for (const extra of [{}, { context: 1 }, { fileGlob: '*.txt' }, { maxMatches: 3 }]) {
      const of = { ...request(pattern), ...extra };
      expect(await searchFiles(corpus, of, deps)).toEqual(await searchFiles(corpus, of));
    }
  });

  it('is answered by ripgrep at all', async () => {
    for (const pattern of ['one', '^.$', '\\W+x', '[^a]$', undefined]) {
      const found = await ripgrepFiles(
        { folder: corpus, pattern: pattern && ripgrepPattern(pattern), timeoutMs: 5_000 },
        deps,
      );
      expect(found?.incomplete).toBe('no');
      expect(found?.paths.length).toBeGreaterThan(1);
    }
  });

  it('finds the same files', async () => {
    for (const pattern of ['*', '*.txt', 'sub*/**', '**/c d.txt', '.*']) {
      const of: SearchRequest = { ...request(pattern), target: 'files' };
      expect(await searchFiles(corpus, of, deps)).toEqual(await searchFiles(corpus, of));
    }
  });

  it('finds the same by random patterns in random lines', async () => {
    const pieces = [
      'a',
      'b',
      '\u00e9',
      '.',
      '\\w',
      '\\W',
      '\\d',
      '\\s',
      '\\S',
      '\\b',
      '^',
      '$',
      '[ab]',
      '[^a]',
      '[\\w-]',
      '[^\\s]',
      '*',
      '+',
      '?',
      '{1,2}',
      '|',
      '(',
      ')',
      '\\.',
      '-',
      ' ',
      '(?i)',
    ];
    const line = fc.array(
      fc.constantFrom('a', 'B', '1', ' ', '.', '-', '\u00e9', '\r', '\xff', '\xe2\x82'),
      { maxLength: 6 },
    );
    const folder = join(root, 'random');
    await mkdir(folder);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 }),
        fc.array(line, { maxLength: 6 }),
        async (pattern, lines) => {
          const text = lines.map((of) => of.join('')).join('\n');
          // A mix of UTF-8 and of bytes that are none.
          await writeFile(
            join(folder, 'f'),
            Buffer.from(text.replaceAll('\u00e9', '\xc3\xa9'), 'latin1'),
          );
          const of = request(pattern.join(''));
          const plain = await searchFiles(folder, of).catch(String);
          expect(await searchFiles(folder, of, deps).catch(String)).toEqual(plain);
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe('ripgrepPattern', () => {
  it.each(['[[:alpha:]]', '\\pN', '\\Qa', 'a\nb', '[--/]', '\\z', '\\B', '['])(
    'leaves %j to RE2',
    (pattern) => {
      expect(ripgrepPattern(pattern)).toBeUndefined();
    },
  );
});
