import { describe, expect, it } from 'vitest';
import { SandboxLostError } from '../../../src/core/ports/sandbox.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { besides, useDockerPairs } from '../../support/docker-pairs.ts';
import { runIn } from '../../support/sandbox-run.ts';
import { toolCaller } from '../../support/sandbox-tools.ts';

const isThere = await hasDocker();
const MIB = 1024 * 1024;

describe.runIf(isThere)('limits of one of two sandboxes', { timeout: 120_000 }, () => {
  const { openTwo, containersOf } = useDockerPairs();

  it('ends a command that writes one file beyond the limit, and keeps the sandbox', async () => {
    const [filler, neighbour] = await openTwo({ diskBytes: 64 * MIB });
    const command = 'head -c 200000000 /dev/zero > big; code=$?; wc -c < big; rm big; exit $code';
    const result = await besides(neighbour, () => runIn(filler, command));
    expect(result.exitCode).not.toBe(0);
    expect(result.text).toContain(`${64 * MIB}\n`);
    expect((await runIn(filler, 'echo more > small; cat small')).text).toBe('more\n');
  });

  it('ends a sandbox that fills its disk by many files, with the reason', async () => {
    const [filler, neighbour] = await openTwo({ diskBytes: 64 * MIB }, 'filled');
    // Below the limit: looked at as often, and left alone.
    await runIn(neighbour, 'for i in 1 2 3; do head -c 20000000 /dev/zero > f$i; done');
    const command = 'for i in 1 2 3 4; do head -c 50000000 /dev/zero > f$i; done; sleep 30';
    const lost = besides(neighbour, () => runIn(filler, command).catch((error: unknown) => error));
    expect(await lost).toBeInstanceOf(SandboxLostError);
    expect(String(await lost)).toMatch(/wrote \d+ MiB to its disk, .* limit of 64 MiB/);
    await filler.close();
    expect(await containersOf('filled')).toHaveLength(1);
  });

  it('ends the command that takes all memory, says so, and keeps the sandbox', async () => {
    const [hog, neighbour] = await openTwo({ memoryBytes: 128 * MIB });
    await runIn(hog, 'export CASE=kept');
    const grow = 'x=$(head -c 400000000 /dev/zero | tr "\\0" x); echo "$x" | wc -c';
    for (let round = 0; round < 2; round += 1) {
      const end = await besides(neighbour, () => runIn(hog, grow));
      expect(end).toMatchObject({ exitCode: 137, outOfMemory: true });
    }
    const shown = await toolCaller(hog)('terminal', { command: grow });
    expect(shown).toMatchObject({
      exit_code: 137,
      error: expect.stringContaining('memory ran out in the sandbox'),
    });
    const { id } = await hog.startProcess({ command: grow });
    expect(await hog.waitForProcess(id, { timeoutMs: 20_000 })).toMatchObject({ exitCode: 137 });
    const after = await runIn(hog, 'echo "$CASE"; false');
    expect(after).toMatchObject({ text: 'kept\n', exitCode: 1 });
    expect(after.outOfMemory).toBeUndefined();
  });

  it('holds a fork bomb to its own processes', async () => {
    const [bomb, neighbour] = await openTwo({ pids: 64 });
    const end = await besides(neighbour, () =>
      runIn(bomb, 'f() { f | f & }; f; sleep 1', { timeoutMs: 2_000 }).catch((error) => error),
    );
    if (end instanceof Error) expect(end).toBeInstanceOf(SandboxLostError);
    await besides(neighbour, () => bomb.close());
  });

  it('is not held up by one that prints without end', async () => {
    const [printer, neighbour] = await openTwo();
    const { id } = await printer.startProcess({ command: 'yes' });
    const before = process.memoryUsage().rss;
    const keep = { headBytes: 1_000, tailBytes: 1_000 };
    const flood = runIn(printer, 'yes', { timeoutMs: 2_000, keep });
    let answers = 0;
    const until = performance.now() + 1_500;
    while (performance.now() < until) {
      expect((await runIn(neighbour, 'echo fine')).text).toBe('fine\n');
      answers += 1;
    }
    const { stopped, text, omittedBytes } = await flood;
    expect([stopped, text.length]).toEqual(['timeout', 2_000]);
    expect(omittedBytes).toBeGreaterThan(1_000_000);
    expect(answers).toBeGreaterThan(0);
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
    expect((await printer.killProcess(id)).exitCode).toBe(143);
  });

  it('is not reached by one that kills all it can', async () => {
    const [killer, neighbour] = await openTwo();
    const { id } = await neighbour.startProcess({ command: 'sleep 60' });
    const lost = besides(neighbour, () => runIn(killer, 'kill -9 -1; sleep 30'));
    await expect(lost).rejects.toThrow(/its container exited with 137/);
    expect((await neighbour.waitForProcess(id, { timeoutMs: 0 })).exitCode).toBeUndefined();
  });
});
