import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Sandbox } from '../../../src/core/ports/sandbox.ts';
import { runIn } from '../../support/sandbox-run.ts';
import type { OpenSandbox } from './open-sandbox.ts';

export function describeCommands(open: OpenSandbox): void {
  describe('commands', () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await open('some/folder');
    });
    const run = (command: string, workdir?: string) =>
      runIn(sandbox, command, workdir === undefined ? {} : { workdir });

    it('starts in the asked folder, below HOME', async () => {
      const result = await run('[ "$PWD" = "$HOME/some/folder" ] && pwd');
      expect(result).toMatchObject({ exitCode: 0, omittedBytes: 0, stopped: 'no' });
    });

    it('keeps the working directory and exports, but no plain variables', async () => {
      await run(`mkdir -p deep; cd deep; export KEPT="it's\n\\"two\\" lines \\$HOME"; plain=1`);
      const result = await run('basename "$PWD"; echo "$KEPT"; echo "[$plain]"');
      expect(result.text).toBe(`deep\nit's\n"two" lines $HOME\n[]\n`);
    });

    it('keeps a variable unset, also one it began with', async () => {
      await run('unset LANG KEPT');
      expect((await run('echo "[$LANG$KEPT]"')).text).toBe('[]\n');
    });

    it('remembers the folder before, for cd -', async () => {
      await run('cd; cd "$TMPDIR"');
      expect((await run('cd - >/dev/null; [ "$PWD" = "$HOME" ] && echo home')).text).toBe('home\n');
    });

    it.each([
      ['exit', 'export CASE=exit; exit 3', 3, 'exit'],
      ['set -e', 'set -e; export CASE=sete; false; export CASE=never', 1, 'sete'],
      ['set -u', 'set -u; export CASE=setu; echo $nope', expect.any(Number), 'setu'],
      ['set -C', 'set -C; export CASE=noclobber', 0, 'noclobber'],
      ['a trap of its own', 'trap "echo bye" EXIT; export CASE=trap', 0, 'trap'],
      ['a command that is not there', 'export CASE=missing; no-such-command', 127, 'missing'],
      ['false', 'export CASE=false; false', 1, 'false'],
    ])('gives the exit code and keeps exports: %s', async (_, command, exitCode, kept) => {
      expect((await run(command)).exitCode).toEqual(exitCode);
      expect((await run('echo "$CASE"')).text).toBe(`${kept}\n`);
    });

    it.each([
      ['kill -9', 'export CASE=lost; kill -9 $$', 137],
      ['exec', 'export CASE=lost; exec true', 0],
      ['a syntax error', 'export CASE=lost; if then', 2],
    ])('keeps the state before: %s', async (_, command, exitCode) => {
      await run('export CASE=before');
      expect((await run(command)).exitCode).toBe(exitCode);
      expect((await run('echo "$CASE"')).text).toBe('before\n');
    });

    it('gives 128 + n for a signal', async () => {
      expect((await run('kill -TERM $$')).exitCode).toBe(143);
    });

    it('shows nothing of its own under set -x', async () => {
      const { text } = await run('set -x; : marker');
      expect(text).toMatch(/^\++ : marker\n$/);
    });

    it('counts lines of the command from 1, where the shell counts them at all', async () => {
      const line = '[ -z "$BASH_VERSION" ] || echo line $LINENO';
      expect((await run(`${line}\n${line}`)).text).toMatch(/^(line 1\nline 2\n)?$/);
    });

    it('goes elsewhere for one command only', async () => {
      await run('cd; mkdir -p side');
      expect((await run('basename "$PWD"', 'side')).text).toBe('side\n');
      expect((await run('[ "$PWD" = "$HOME" ] && echo home')).text).toBe('home\n');
      const missing = await run('echo ran', 'no/such/folder');
      expect(missing.exitCode).not.toBe(0);
      expect(missing.text).toContain('no/such/folder');
      expect(missing.text).not.toContain('ran');
    });

    it('survives the loss of its working directory', async () => {
      await run('mkdir -p "$HOME/gone"; cd "$HOME/gone"; rmdir "$HOME/gone"');
      const first = await run('echo alive');
      expect(first.text).toMatch(/gone.*\nalive\n$/);
      expect((await run('[ "$PWD" = "$HOME" ] && echo home')).text).toBe('home\n');
    });

    it('takes a command of 1 MB', async () => {
      const { text } = await run(`printf %s '${'x'.repeat(1_000_000)}' | wc -c; export BIG=1`);
      expect(text.trim()).toBe('1000000');
      expect((await run('echo $BIG')).text).toBe('1\n');
    });

    it('refuses a NUL byte in words', async () => {
      const result = await run('echo a\0b');
      expect(result.exitCode).not.toBe(0);
      expect(result.text).toContain('NUL');
    });

    it('hides the command text from pkill -f', async () => {
      expect((await run('pkill -f some-marker-text 2>/dev/null; echo alive')).text).toBe('alive\n');
    });

    it('gives end-of-file to a command that reads its input', async () => {
      expect((await run('cat; read -r line || echo eof')).text).toBe('eof\n');
    });

    it('has a clean environment', async () => {
      const fresh = await open();
      vi.stubEnv('TALARIA_TEST_SECRET', 'from-the-runner');
      try {
        const { text } = await runIn(fresh, 'env');
        const names = text.match(/^[A-Za-z_]+(?==)/gm) ?? [];
        const known = 'PATH LANG HOME TMPDIR USER SHELL TERM TALARIA_SANDBOX PWD SHLVL _'.split(
          ' ',
        );
        expect(names.filter((name) => !known.includes(name))).toEqual([]);
        expect(names).toEqual(expect.arrayContaining(known.slice(0, 8)));
        expect(text).not.toContain('from-the-runner');
      } finally {
        vi.unstubAllEnvs();
      }
    });
  });
}
