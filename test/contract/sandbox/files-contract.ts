import { beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/core/ports/sandbox.ts';
import { runIn } from '../../support/sandbox-run.ts';
import type { OpenSandbox } from './open-sandbox.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

export function describeFiles(open: OpenSandbox): void {
  describe('files', () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await open();
      await runIn(sandbox, 'mkdir folder; mkfifo pipe; ln -s folder link; ln -s nowhere dangling');
    });
    const readText = async (path: string) =>
      Buffer.from((await sandbox.readFile(path, 1_000)).bytes).toString();

    it('writes where commands read, and the other way round', async () => {
      await sandbox.writeFile('made/by/tool.txt', bytes('hällo\n'));
      expect((await runIn(sandbox, 'cat made/by/tool.txt')).text).toBe('hällo\n');
      await runIn(sandbox, 'echo from the shell > folder/shell.txt');
      expect(await readText('folder/shell.txt')).toBe('from the shell\n');
      expect(await readText('link/shell.txt')).toBe('from the shell\n');
      expect(await readText('~/folder/shell.txt')).toBe('from the shell\n');
    });

    it('goes by the working directory of the shell', async () => {
      await runIn(sandbox, 'mkdir -p inner; cd inner; echo x > here');
      expect(await readText('here')).toBe('x\n');
      const { text } = await runIn(sandbox, 'echo "$PWD/here"; cd ..');
      expect(await readText(text.trim())).toBe('x\n');
      await expect(sandbox.readFile('here', 10)).rejects.toMatchObject({ code: 'not_found' });
    });

    it('gives the first bytes and the size of the whole', async () => {
      await sandbox.writeFile('ten', bytes('0123456789'));
      const { bytes: start, size } = await sandbox.readFile('ten', 4);
      expect([Buffer.from(start).toString(), size]).toEqual(['0123', 10]);
    });

    it('keeps the mode and the link of a file it replaces, and leaves nothing beside it', async () => {
      await runIn(sandbox, 'mkdir m; cd m; echo a > run.sh; chmod 750 run.sh; ln -s run.sh to');
      await sandbox.writeFile('to', bytes('b\n'));
      const { text } = await runIn(sandbox, 'cat run.sh; ls -A; find . -type f -perm 750; cd ..');
      expect(text).toBe('b\nrun.sh\nto\n./run.sh\n');
    });

    it.each([
      ['missing', 'not_found'],
      ['ten/below-a-file', 'not_found'],
      ['dangling', 'not_found'],
      ['', 'not_found'],
      ['a\0b', 'not_found'],
      ['folder', 'is_directory'],
      ['pipe', 'not_a_file'],
    ])('says why %j cannot be read', async (path, code) => {
      const started = performance.now();
      await expect(sandbox.readFile(path, 10)).rejects.toMatchObject({
        name: 'SandboxFileError',
        code,
      });
      expect(performance.now() - started).toBeLessThan(1_000);
    });

    it.each([
      ['folder', 'is_directory'],
      ['pipe', 'not_a_file'],
    ])('says why %j cannot be written', async (path, code) => {
      await expect(sandbox.writeFile(path, bytes('x'))).rejects.toMatchObject({ code });
    });

    it('deletes a file, of a link the link itself', async () => {
      await runIn(sandbox, 'mkdir d; cd d; echo a > f; ln -s f l; ln -s no n; cd ..');
      await sandbox.deleteFile('d/l');
      await sandbox.deleteFile('~/d/n');
      expect((await runIn(sandbox, 'ls d')).text).toBe('f\n');
      await sandbox.deleteFile('./d/f');
      expect((await runIn(sandbox, 'ls d')).text).toBe('');
    });

    it('moves a file into new folders, with its mode', async () => {
      await runIn(sandbox, 'echo a > from; chmod 751 from; ln -s from over');
      await sandbox.moveFile('from', 'far/away/to');
      expect((await runIn(sandbox, 'find far -type f -perm 751; cat far/away/to')).text).toBe(
        'far/away/to\na\n',
      );
      const taken = { name: 'SandboxFileError', code: 'exists' };
      await sandbox.writeFile('ten', bytes('0123456789'));
      for (const to of ['ten', 'folder', 'over']) {
        const message = expect.stringMatching(`^${to}: is there`);
        await expect(sandbox.moveFile('far/away/to', to)).rejects.toMatchObject({
          ...taken,
          message,
        });
      }
    });

    it.each([
      ['missing', 'not_found'],
      ['ten/below-a-file', 'not_found'],
      ['', 'not_found'],
      ['a\0b', 'not_found'],
      ['folder', 'is_directory'],
      ['.', 'is_directory'],
      ['~', 'is_directory'],
    ])('says why %j cannot be deleted or moved', async (path, code) => {
      await expect(sandbox.deleteFile(path)).rejects.toMatchObject({ code });
      await expect(sandbox.moveFile(path, 'elsewhere')).rejects.toMatchObject({ code });
      expect((await runIn(sandbox, 'ls elsewhere')).exitCode).not.toBe(0);
    });

    it('replaces a dangling link by the file', async () => {
      await sandbox.writeFile('dangling', bytes('file now\n'));
      expect((await runIn(sandbox, 'cat dangling; ls nowhere 2>/dev/null')).text).toBe(
        'file now\n',
      );
    });
  });
}
