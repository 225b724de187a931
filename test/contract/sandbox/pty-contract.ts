import { beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/core/ports/sandbox.ts';
import { runIn } from '../../support/sandbox-run.ts';
import type { OpenSandbox } from './open-sandbox.ts';

const bytes = (of: string) => new TextEncoder().encode(of);

export function describePty(open: OpenSandbox): void {
  describe('terminal', () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await open();
    });
    const run = (command: string, pty = true) => runIn(sandbox, command, { pty });
    const count = async (marker: string) =>
      (await run(`ps -eo args | grep -c "^sleep ${marker}$"; true`, false)).text;
    async function outputOf(id: string): Promise<string> {
      return Buffer.from((await sandbox.processOutput(id, 100_000)).bytes).toString();
    }
    async function start(command: string): Promise<string> {
      return (await sandbox.startProcess({ command, pty: true })).id;
    }

    it('is there for the very first command, and only where asked for', async () => {
      const fresh = await open();
      const look = 'test -t 0 && test -t 1 && test -t 2 && echo yes; stty size; echo $TERM';
      expect(await runIn(fresh, look, { pty: true })).toMatchObject({
        text: 'yes\n24 80\nxterm-256color\n',
        exitCode: 0,
      });
      expect((await runIn(fresh, 'test -t 1 || echo no; echo $TERM')).text).toBe('no\ndumb\n');
    });

    it('keeps folder, exports and exit code as commands without one do', async () => {
      await run('mkdir -p in', false);
      expect((await run('cd in; export KEPT="a b"; plain=1; exit 3')).exitCode).toBe(3);
      const after = await run('basename "$PWD"; echo "$KEPT [$plain]"; export TERM=vt100', false);
      expect(after.text).toBe('in\na b []\n');
      expect((await run('cd ..; kill -9 $$')).exitCode).toBe(137);
      expect((await run('basename "$PWD"; cd ..; echo $TERM', false)).text).toBe('in\nvt100\n');
      expect((await run('if then')).exitCode).toBe(2);
    });

    it('gives plain newlines, and otherwise the bytes as they are', async () => {
      const command = `printf 'a\\nb\\r\\nc\\rd\\033[1me\\n'; echo error >&2`;
      expect((await run(command)).text).toBe('a\nb\nc\rd\u001b[1me\nerror\n');
      const { text } = await run(`stty size; seq 1 200000`);
      const expected = `24 80\n${Array.from({ length: 200_000 }, (_, at) => at + 1).join('\n')}\n`;
      const whole = await runIn(sandbox, 'stty size; seq 1 200000', {
        pty: true,
        keep: { headBytes: 2_000_000, tailBytes: 0 },
      });
      expect(whole.text === expected).toBe(true);
      expect(text.length).toBe(200_000);
    });

    it('shows nothing of its own under set -x, and hides the command text', async () => {
      expect((await run('set -x; : marker')).text).toMatch(/^\++ : marker\n$/);
      expect((await run('pkill -f some-marker-text 2>/dev/null; echo alive')).text).toBe('alive\n');
    });

    it('gives end-of-file to a command that reads its input', async () => {
      expect((await run('cat; echo end')).text).toBe('end\n');
    });

    it('kills all that a command started when it takes too long', async () => {
      const command = `trap '' HUP TERM; sleep 1031 & sleep 1031`;
      const result = await runIn(sandbox, command, { pty: true, timeoutMs: 500 });
      expect(result).toMatchObject({ stopped: 'timeout', exitCode: 137 });
      expect(await count('1031')).toBe('0\n');
    });

    it('takes a command of 1 MB', async () => {
      const { text } = await run(`printf %s '${'x'.repeat(1_000_000)}' | wc -c`);
      expect(text.trim()).toBe('1000000');
    });

    it('is typed at by what a background process is sent', async () => {
      const id = await start('test -t 0 && echo tty; read -r a; echo "got $a"; cat; echo over');
      await sandbox.writeToProcess(id, bytes('one\n'));
      await expect.poll(() => outputOf(id), { timeout: 5_000 }).toContain('got one\n');
      await sandbox.writeToProcess(id, bytes('two\n'));
      // What is typed is shown, then cat says it again.
      await expect.poll(() => outputOf(id), { timeout: 5_000 }).toContain('two\ntwo\n');
      await sandbox.closeProcessInput(id);
      expect(await sandbox.waitForProcess(id, { timeoutMs: 10_000 })).toMatchObject({
        exitCode: 0,
      });
      expect(await outputOf(id)).toMatch(/^(tty\none|one\ntty)\ngot one\ntwo\ntwo\nover\n$/);
    });

    it('obeys control characters', async () => {
      const id = await start('sleep 1032; echo "left with $?"');
      await expect.poll(() => count('1032'), { timeout: 5_000 }).toBe('1\n');
      await sandbox.writeToProcess(id, bytes('\u0003'));
      const { exitCode } = await sandbox.waitForProcess(id, { timeoutMs: 10_000 });
      expect(exitCode).toBe(130);
      expect(await count('1032')).toBe('0\n');
    });

    it.each([
      ['that ends on SIGTERM', `trap 'echo bye; exit 4' TERM`, 4],
      ['that ignores signals', `trap '' TERM HUP`, 137],
    ])('ends a background process %s, with all it started', async (_, trap, code) => {
      const id = await start(`${trap}; sleep 1033 & echo up; while :; do sleep 0.1; done`);
      await expect.poll(() => outputOf(id), { timeout: 5_000 }).toContain('up');
      expect((await sandbox.killProcess(id)).exitCode).toBe(code);
      await expect.poll(() => count('1033'), { timeout: 5_000 }).toBe('0\n');
    });

    it('ends with the sandbox, jobs of a shell with job control too', async () => {
      const fresh = await open();
      const command = `set -m; trap '' HUP; sleep 1034 & sleep 1034 & wait`;
      await fresh.startProcess({ command, pty: true });
      const inside = 'ps -eo args | grep -c "^sleep 1034$"; true';
      await expect.poll(async () => (await runIn(fresh, inside)).text).toBe('2\n');
      await fresh.close();
      await expect.poll(() => count('1034'), { timeout: 5_000 }).toBe('0\n');
    });
  });
}
