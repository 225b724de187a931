import { beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, SandboxLostError } from '../../../src/core/ports/sandbox.ts';
import { runIn } from '../../support/sandbox-run.ts';
import type { OpenSandbox } from './open-sandbox.ts';

const WHOLE = 1_000_000;
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const bytes = (of: string) => new TextEncoder().encode(of);

export function describeProcesses(open: OpenSandbox): void {
  describe('background processes', () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await open();
    });
    const outputOf = async (id: string, maxBytes = WHOLE) =>
      text((await sandbox.processOutput(id, maxBytes)).bytes);
    const ended = (id: string) => sandbox.waitForProcess(id, { timeoutMs: 10_000 });
    async function untilOutput(id: string, wanted: string): Promise<void> {
      await expect.poll(() => outputOf(id), { timeout: 5_000 }).toContain(wanted);
    }

    it('answers at once and tells the end', async () => {
      const from = performance.now();
      const { id, exitCode } = await sandbox.startProcess({ command: 'echo a; sleep 0.3; exit 7' });
      expect(performance.now() - from).toBeLessThan(250);
      expect(exitCode).toBeUndefined();
      expect((await sandbox.waitForProcess(id, { timeoutMs: 20 })).exitCode).toBeUndefined();
      const end = await ended(id);
      expect(end).toMatchObject({ id, exitCode: 7, command: 'echo a; sleep 0.3; exit 7' });
      expect(end.runMs).toBeGreaterThan(250);
      expect(await outputOf(id)).toBe('a\n');
      expect((await ended(id)).runMs).toBe(end.runMs);
    });

    it('shows what was printed so far while it goes on', async () => {
      const { id } = await sandbox.startProcess({
        command: 'seq 1 100000; echo so far; sleep 30; echo late',
      });
      await untilOutput(id, '100000\nso far\n');
      expect((await sandbox.waitForProcess(id, { timeoutMs: 0 })).exitCode).toBeUndefined();
      expect(await outputOf(id)).not.toContain('late');
      await sandbox.killProcess(id);
    });

    it('joins output and errors, whole at the end', async () => {
      const { id } = await sandbox.startProcess({
        command: 'echo 1; echo 2 >&2; echo 3 > /dev/stderr; head -c 50000 /dev/zero',
      });
      await ended(id);
      expect(await outputOf(id)).toBe(`1\n2\n3\n${'\0'.repeat(50_000)}`);
    });

    it('starts with the directory and exports of the shell, and changes neither', async () => {
      await runIn(sandbox, `mkdir -p in/side; cd in; export KEPT="it's \\$HOME"; unset LANG`);
      const { id } = await sandbox.startProcess({
        command: 'echo "$KEPT [$LANG]"; basename "$PWD"; export KEPT=no; cd /',
      });
      await ended(id);
      expect(await outputOf(id)).toBe("it's $HOME []\nin\n");
      const aside = await sandbox.startProcess({ command: 'basename "$PWD"', workdir: 'side' });
      await ended(aside.id);
      expect(await outputOf(aside.id)).toBe('side\n');
      const after = await runIn(sandbox, 'echo "$KEPT"; basename "$PWD"; cd ..');
      expect(after.text).toBe("it's $HOME\nin\n");
    });

    it('says that its folder is not there', async () => {
      const { id } = await sandbox.startProcess({ command: 'echo ran', workdir: 'no/folder' });
      expect((await ended(id)).exitCode).not.toBe(0);
      expect(await outputOf(id)).toMatch(/no\/folder/);
      expect(await outputOf(id)).not.toContain('ran');
    });

    it('takes a command of 1 MB', async () => {
      const command = `printf %s '${'x'.repeat(1_000_000)}' | wc -c`;
      const { id } = await sandbox.startProcess({ command });
      await ended(id);
      expect((await outputOf(id)).trim()).toBe('1000000');
    });

    it('is written to, by lines and raw, until its input is closed', async () => {
      const command = 'read -r a; read -r b; echo "$a-$b"; cat; echo over';
      const { id } = await sandbox.startProcess({ command });
      await sandbox.writeToProcess(id, bytes('o'));
      await sandbox.writeToProcess(id, bytes('ne\ntwo\n'));
      await untilOutput(id, 'one-two\n');
      await sandbox.writeToProcess(id, bytes('rést'));
      await sandbox.closeProcessInput(id);
      expect(await ended(id)).toMatchObject({ exitCode: 0 });
      await sandbox.closeProcessInput(id);
      expect(await outputOf(id)).toBe('one-two\nréstover\n');
    });

    it('can open its input again by name, and waits for it', async () => {
      const { id } = await sandbox.startProcess({ command: 'cat < /dev/stdin; echo end' });
      expect((await sandbox.waitForProcess(id, { timeoutMs: 100 })).exitCode).toBeUndefined();
      await sandbox.writeToProcess(id, bytes('late\n'));
      await sandbox.closeProcessInput(id);
      await ended(id);
      expect(await outputOf(id)).toBe('late\nend\n');
    });

    it('says that its input is closed', async () => {
      const { id } = await sandbox.startProcess({ command: 'exec <&-; echo shut; sleep 30' });
      await untilOutput(id, 'shut');
      const closed = { name: 'SandboxProcessError', code: 'input_closed' };
      await expect(sandbox.writeToProcess(id, bytes('x'))).rejects.toMatchObject(closed);
      await sandbox.killProcess(id);
      await expect(sandbox.writeToProcess(id, bytes('x'))).rejects.toMatchObject(closed);
    });

    it('holds a bounded part of what a process does not read', async () => {
      const { id } = await sandbox.startProcess({ command: 'sleep 30' });
      const fill = async () => {
        for (let round = 0; round < 20; round += 1) {
          await sandbox.writeToProcess(id, new Uint8Array(200_000));
        }
      };
      await expect(fill()).rejects.toMatchObject({ code: 'input_full' });
      await sandbox.killProcess(id);
    });

    it('keeps the last of a long output and counts the rest', async () => {
      const { id } = await sandbox.startProcess({ command: 'seq 1 1000000' });
      await ended(id);
      const kept = await sandbox.processOutput(id, WHOLE);
      expect(kept.bytes.length).toBe(256 * 1024);
      expect(kept.skippedBytes + kept.bytes.length).toBe(6_888_896);
      expect(kept.skippedLines + text(kept.bytes).split('\n').length - 1).toBe(1_000_000);
      const last = await sandbox.processOutput(id, 8);
      expect(last).toMatchObject({ skippedBytes: 6_888_888, skippedLines: 999_999 });
      expect(text(last.bytes)).toBe('1000000\n');
    });

    it('is not drowned by a flood, nor is the event loop', async () => {
      const { id } = await sandbox.startProcess({ command: 'yes' });
      let longest = 0;
      let last = performance.now();
      const timer = setInterval(() => {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }, 1);
      expect((await runIn(sandbox, 'sleep 0.5; echo hi')).text).toBe('hi\n');
      clearInterval(timer);
      expect(longest).toBeLessThan(300);
      expect(await outputOf(id, 4)).toBe('y\ny\n');
      expect((await sandbox.killProcess(id)).exitCode).toBe(143);
    });

    it('is killed with its group, also where it ignores SIGTERM', async () => {
      const command = `trap '' TERM; sleep 1021 & sleep 1021; wait`;
      const { id } = await sandbox.startProcess({ command });
      const count = 'ps -eo args | grep -c "^sleep 1021$"; true';
      await expect.poll(async () => (await runIn(sandbox, count)).text).toBe('2\n');
      expect((await sandbox.killProcess(id)).exitCode).toBe(137);
      expect((await runIn(sandbox, count)).text).toBe('0\n');
      expect((await sandbox.killProcess(id)).exitCode).toBe(137);
    });

    it('lets a process end cleanly on SIGTERM', async () => {
      const command = `trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done`;
      const { id } = await sandbox.startProcess({ command });
      await untilOutput(id, 'up');
      expect((await sandbox.killProcess(id)).exitCode).toBe(0);
      // The shell may tell of its sleep, which the signal reached too.
      expect(await outputOf(id)).toMatch(/^up\n(Terminated\n)?bye\n$/);
    });

    it('goes on hearing what a process left behind', async () => {
      const { id } = await sandbox.startProcess({ command: '(sleep 0.3; echo late) & echo now' });
      await ended(id);
      expect(await outputOf(id)).toBe('now\n');
      await untilOutput(id, 'late');
    });

    it('stops waiting when the signal aborts', async () => {
      const { id } = await sandbox.startProcess({ command: 'sleep 30' });
      const from = performance.now();
      const signal = AbortSignal.timeout(50);
      const status = await sandbox.waitForProcess(id, { timeoutMs: 20_000, signal });
      expect(status.exitCode).toBeUndefined();
      expect(performance.now() - from).toBeLessThan(2_000);
      const aborted = { timeoutMs: 20_000, signal: AbortSignal.abort() };
      expect((await sandbox.waitForProcess(id, aborted)).exitCode).toBeUndefined();
      await sandbox.killProcess(id);
    });

    it('names what there is when an id is wrong', async () => {
      const fresh = await open();
      const unknown = { name: 'SandboxProcessError', code: 'unknown_process' };
      await expect(fresh.processOutput('x', 1)).rejects.toMatchObject({
        ...unknown,
        message: expect.stringContaining('none was started'),
      });
      const { id } = await fresh.startProcess({ command: 'true' });
      for (const attempt of [
        fresh.killProcess('x'),
        fresh.writeToProcess('x', bytes('')),
        fresh.closeProcessInput('x'),
        fresh.waitForProcess('x', { timeoutMs: 1 }),
      ]) {
        const message = expect.stringContaining(id);
        await expect(attempt).rejects.toMatchObject({ ...unknown, message });
      }
    });

    it('runs 32 at once, forgets ended ones for new ones, and refuses more', async () => {
      const fresh = await open();
      const first = await fresh.startProcess({ command: 'true' });
      await fresh.waitForProcess(first.id, { timeoutMs: 5_000 });
      for (let round = 0; round < 32; round += 1) await fresh.startProcess({ command: 'sleep 99' });
      expect(await fresh.listProcesses()).toHaveLength(32);
      expect((await fresh.listProcesses()).map(({ id }) => id)).not.toContain(first.id);
      await expect(fresh.startProcess({ command: 'true' })).rejects.toMatchObject({
        code: 'too_many',
      });
      await fresh.close();
    });

    it('ends with the sandbox, and a wait for it too', async () => {
      const fresh = await open();
      const { id } = await fresh.startProcess({ command: 'sleep 1022 & sleep 1022' });
      const waiting = fresh.waitForProcess(id, { timeoutMs: 20_000 });
      const count = 'ps -eo args | grep -c "^sleep 1022$"; true';
      await expect.poll(async () => (await runIn(fresh, count)).text).toBe('2\n');
      const lost = expect(waiting).rejects.toThrow(SandboxLostError);
      await fresh.close();
      await lost;
      await expect.poll(async () => (await runIn(sandbox, count)).text).toBe('0\n');
      await expect(fresh.startProcess({ command: 'true' })).rejects.toThrow(SandboxLostError);
      await expect(fresh.listProcesses()).rejects.toThrow(SandboxLostError);
    });
  });
}
