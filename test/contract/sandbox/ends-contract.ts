import { describe, expect, it } from 'vitest';
import { SandboxLostError } from '../../../src/core/ports/sandbox.ts';
import { runIn } from '../../support/sandbox-run.ts';
import type { OpenSandbox } from './open-sandbox.ts';

/** How many processes with this marker in their arguments run in the sandbox. */
const COUNT = (marker: string) => `ps -eo args | grep -c "^sleep ${marker}$"; true`;

export function describeEnds(open: OpenSandbox): void {
  describe('ends', () => {
    it('kills the whole tree of a command that takes too long', async () => {
      const sandbox = await open();
      await runIn(sandbox, 'export CASE=before');
      const started = performance.now();
      const command = `export CASE=lost; echo begun; (trap '' TERM; sleep 1001 & sleep 1001 & wait)`;
      const result = await runIn(sandbox, command, { timeoutMs: 300 });
      expect(result).toMatchObject({ stopped: 'timeout', exitCode: 137, text: 'begun\n' });
      expect(performance.now() - started).toBeLessThan(3_000);
      expect((await runIn(sandbox, COUNT('1001'))).text).toBe('0\n');
      expect((await runIn(sandbox, 'echo $CASE')).text).toBe('before\n');
    });

    it('answers a time-out while a child outside the group holds the pipe', async () => {
      const sandbox = await open();
      const started = performance.now();
      const result = await runIn(sandbox, 'setsid sleep 5; sleep 5', { timeoutMs: 300 });
      expect(result.stopped).toBe('timeout');
      expect(performance.now() - started).toBeLessThan(3_000);
    });

    it('stops a command whose signal aborts', async () => {
      const sandbox = await open();
      const abort = new AbortController();
      setTimeout(() => abort.abort(), 200);
      const result = await runIn(sandbox, 'echo begun; sleep 1002', { signal: abort.signal });
      expect(result).toMatchObject({ stopped: 'aborted', text: 'begun\n' });
      expect((await runIn(sandbox, COUNT('1002'))).text).toBe('0\n');
    });

    it('stops a command whose signal had aborted before', async () => {
      const sandbox = await open();
      const result = await runIn(sandbox, 'sleep 1003', { signal: AbortSignal.abort() });
      expect(result.stopped).toBe('aborted');
    });

    it('takes no limit at all', async () => {
      const sandbox = await open();
      const result = await runIn(sandbox, 'sleep 0.1; echo done', { timeoutMs: Infinity });
      expect(result).toMatchObject({ text: 'done\n', stopped: 'no' });
    });

    it('close ends background processes and a running command', async () => {
      const sandbox = await open();
      const watcher = await open();
      await runIn(sandbox, 'sleep 1004 & (sleep 1004 &) ; echo started');
      const running = runIn(sandbox, 'sleep 1004');
      await runIn(
        sandbox,
        `until [ $(ps -eo args | grep -c "^sleep 1004$") = 3 ]; do sleep 0.05; done`,
      );
      const lost = expect(running).rejects.toThrow(SandboxLostError);
      await sandbox.close();
      await lost;
      expect((await runIn(watcher, `sleep 0.1; ${COUNT('1004')}`)).text).toBe('0\n');
    });

    it('is lost after close, which may come twice', async () => {
      const sandbox = await open();
      await sandbox.close();
      await sandbox.close();
      await expect(runIn(sandbox, 'echo hi')).rejects.toThrow(SandboxLostError);
      await expect(sandbox.readFile('a', 1)).rejects.toThrow(SandboxLostError);
      await expect(sandbox.writeFile('a', new Uint8Array())).rejects.toThrow(SandboxLostError);
    });

    it('runs 50 at once, each with its own files and state', async () => {
      const sandboxes = await Promise.all(Array.from({ length: 50 }, () => open()));
      const results = await Promise.all(
        sandboxes.map(async (sandbox, index) => {
          await runIn(sandbox, `echo ${index} > mine; export N=${index}`);
          await runIn(sandbox, 'mkdir -p sub; cd sub');
          return (await runIn(sandbox, 'cat ../mine; echo $N')).text;
        }),
      );
      expect(results).toEqual(results.map((_, index) => `${index}\n${index}\n`));
      await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
    });
  });
}
