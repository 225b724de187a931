import { beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/core/ports/sandbox.ts';
import { runIn } from '../../support/sandbox-run.ts';
import type { OpenSandbox } from './open-sandbox.ts';

export function describeOutput(open: OpenSandbox): void {
  describe('output', () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await open();
    });

    it('joins output and errors in their order', async () => {
      const { text } = await runIn(sandbox, 'echo 1; echo 2 >&2; echo 3; echo 4 >&2');
      expect(text).toBe('1\n2\n3\n4\n');
    });

    it('can be opened again by name', async () => {
      const command =
        'echo a > /dev/stderr && echo b > /dev/stdout && echo c | tee /dev/stderr > /dev/null && echo d | tee /dev/stdout';
      expect(await runIn(sandbox, command)).toMatchObject({ text: 'a\nb\nc\nd\nd\n', exitCode: 0 });
    });

    it('keeps bytes as they are', async () => {
      const { head } = await sandbox.run({
        command: `printf '\\000\\377\\033[31m\\r\\n'`,
        timeoutMs: 5_000,
        keep: { headBytes: 100, tailBytes: 100 },
      });
      expect([...head]).toEqual([0, 255, 27, 91, 51, 49, 109, 13, 10]);
    });

    it('cuts the middle to the byte', async () => {
      const keep = { headBytes: 10, tailBytes: 7 };
      const { head, tail, omittedBytes } = await sandbox.run({
        command: 'seq 1 1000',
        timeoutMs: 5_000,
        keep,
      });
      expect(Buffer.from(head).toString()).toBe('1\n2\n3\n4\n5\n');
      expect(Buffer.from(tail).toString()).toBe('9\n1000\n');
      expect(omittedBytes).toBe(3893 - 17);
      const exact = await sandbox.run({
        command: 'printf 12345678901234567',
        timeoutMs: 5_000,
        keep,
      });
      expect(Buffer.from(exact.head).toString()).toBe('12345678901234567');
      expect(exact.tail.length + exact.omittedBytes).toBe(0);
    });

    it('is bounded at 200 MB and leaves the event loop its turn', async () => {
      let turns = 0;
      const timer = setInterval(() => {
        turns += 1;
      }, 5);
      const before = process.memoryUsage().rss;
      const result = await runIn(sandbox, 'head -c 200000000 /dev/zero; echo end');
      clearInterval(timer);
      expect(result.omittedBytes).toBe(200_000_004 - 200_000);
      expect(result.text.endsWith('end\n')).toBe(true);
      expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
      expect(turns).toBeGreaterThan(3);
    });

    it('is whole at the answer, however short the command', async () => {
      const lengths = [];
      for (let round = 0; round < 30; round += 1) {
        lengths.push((await runIn(sandbox, 'head -c 60000 /dev/zero')).text.length);
      }
      expect(new Set(lengths)).toEqual(new Set([60_000]));
    });

    it('does not wait for a background child that holds it', async () => {
      const started = performance.now();
      const { text } = await runIn(sandbox, 'sleep 30 & echo hi');
      expect(text).toBe('hi\n');
      expect(performance.now() - started).toBeLessThan(5_000);
    });

    it('goes on taking what a background child prints', async () => {
      const printer = '(sleep 0.2; head -c 300000 /dev/zero; echo "$?" > printed) &';
      await runIn(sandbox, printer);
      const { text } = await runIn(
        sandbox,
        'for i in $(seq 100); do [ -s printed ] && break; sleep 0.1; done; cat printed',
      );
      expect(text).toBe('0\n');
    });

    it('of one command does not show up in the next', async () => {
      await runIn(sandbox, '(sleep 0.1; echo late) & echo now');
      expect((await runIn(sandbox, 'sleep 0.3; echo next')).text).toBe('next\n');
    });
  });
}
