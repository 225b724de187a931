import { beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox, SearchRequest } from '../../../src/core/ports/sandbox.ts';
import { runIn } from '../../support/sandbox-run.ts';
import type { OpenSandbox } from './open-sandbox.ts';

const SETUP = `
mkdir -p src/deep .git node_modules
printf 'one\\ntwo\\nthree\\nfour\\nfive\\n' > src/a.txt
printf 'def two():\\r\\n    pass\\r\\n' > src/deep/b.py
printf 'two\\0binary' > src/bin.dat
echo two > .git/hidden
echo two > src.md
ln -s / src/out
ln -s a.txt src/same.txt
`;

export function describeSearch(open: OpenSandbox): void {
  describe('search', () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await open();
      await runIn(sandbox, SETUP);
    });
    const search = (pattern: string, overrides: Partial<SearchRequest> = {}) =>
      sandbox.search({
        pattern,
        target: 'content',
        path: '.',
        context: 0,
        maxMatches: 100,
        timeoutMs: 10_000,
        ...overrides,
      });
    const pathsOf = async (pattern: string, overrides: Partial<SearchRequest> = {}) =>
      (await search(pattern, overrides)).matches.map(({ path, line }) => `${path}:${line}`);

    it('finds lines in the order of paths, without hidden, binary and linked files', async () => {
      expect(await search('^(def )?two')).toEqual({
        matches: [
          { path: 'src.md', line: 1, text: 'two', isMatch: true },
          { path: 'src/a.txt', line: 2, text: 'two', isMatch: true },
          { path: 'src/deep/b.py', line: 1, text: 'def two():', isMatch: true },
        ],
        incomplete: 'no',
      });
    });

    it('shows context lines once', async () => {
      const { matches } = await search('^t', { path: 'src/a.txt', context: 1 });
      const shown = matches.map(({ line, isMatch }) => (isMatch ? line : -line));
      expect(shown).toEqual([-1, 2, 3, -4]);
    });

    it.each([
      ['*.txt', ['src/a.txt:0']],
      ['*.{py,md}', ['src.md:0', 'src/deep/b.py:0']],
      ['src/**/*.py', ['src/deep/b.py:0']],
      ['**/b.py', ['src/deep/b.py:0']],
      ['[ab].*', ['src/a.txt:0', 'src/deep/b.py:0']],
      ['[!a].py', ['src/deep/b.py:0']],
      ['?.txt', ['src/a.txt:0']],
      ['a+txt', []],
    ])('finds files by the glob %s', async (glob, expected) => {
      expect(await pathsOf(glob, { target: 'files' })).toEqual(expected);
    });

    it('gives paths that readFile takes', async () => {
      await runIn(sandbox, 'cd src');
      const [found] = (await search('two', { path: 'deep' })).matches;
      expect(found?.path).toBe('deep/b.py');
      expect((await sandbox.readFile(found?.path ?? '', 10)).size).toBeGreaterThan(0);
      await runIn(sandbox, 'cd ..');
    });

    it('takes only files of a name', async () => {
      expect(await pathsOf('two', { fileGlob: '*.py' })).toEqual(['src/deep/b.py:1']);
    });

    it('stops after enough matches, and says so', async () => {
      const { matches, incomplete } = await search('e', { maxMatches: 2 });
      expect([matches.length, incomplete]).toEqual([2, 'limit']);
    });

    it('cuts long lines', async () => {
      await runIn(sandbox, 'mkdir long; head -c 1000000 /dev/zero | tr "\\0" z > long/line');
      const [found] = (await search('zzz', { path: 'long' })).matches;
      expect(found?.text.length).toBeLessThanOrEqual(10_000);
    });

    it.each(['(', 'a{1001}', '(?<=a)b', '[z-a]'])('refuses the pattern %s', async (pattern) => {
      await expect(search(pattern)).rejects.toMatchObject({ code: 'invalid_pattern' });
    });

    it('cannot be hung by a pattern', async () => {
      await runIn(sandbox, 'mkdir evil; head -c 200000 /dev/zero | tr "\\0" x > evil/xs');
      const started = performance.now();
      await search('(x+x+)+y', { path: 'evil' });
      await search('(x?){900}(x?){90}y', { path: 'evil' });
      await search('((x{1,30}){1,30})y', { path: 'evil' });
      expect(performance.now() - started).toBeLessThan(5_000);
    });

    it('ends in time and lets others run meanwhile', async () => {
      await runIn(sandbox, 'mkdir many; yes some line of text | head -n 300000 > many/lines');
      const started = performance.now();
      let longest = 0;
      let last = started;
      const timer = setInterval(() => {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }, 1);
      // Ripgrep takes some milliseconds only to start: no machine is quick enough.
      const { incomplete } = await search('(s.*){5}z', { path: 'many', timeoutMs: 1 });
      clearInterval(timer);
      expect(incomplete).toBe('timeout');
      expect(performance.now() - started).toBeLessThan(2_000);
      expect(longest).toBeLessThan(500);
    });

    it('says that a folder is not there', async () => {
      await expect(search('x', { path: 'nowhere' })).rejects.toMatchObject({ code: 'not_found' });
    });
  });
}
