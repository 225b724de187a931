import { describe, expect, it } from 'vitest';
import { hasDocker } from '../../support/docker-daemon.ts';
import { hasEmulator } from '../../support/emulator.ts';
import { startHoldingProxy } from '../../support/holding-proxy.ts';
import { useWorkers } from '../../support/worker-harness.ts';

const canRun = hasEmulator() && (await hasDocker());
const ROWS = [{ prompt: 'one' }, { prompt: 'two', cwd: '/tmp/x' }, { prompt: 'three', note: 3 }];

describe.runIf(canRun)('the worker as a process', { timeout: 240_000 }, () => {
  const workers = useWorkers('worker-process');
  let undisturbed: unknown[];

  it('runs a batch prompt by prompt and closes it', async () => {
    const batch = await workers.plan({ run: 'plain', rows: ROWS });
    await batch.launch(1);
    const daemons = await workers.daemons(4);
    const worker = await workers.start(batch, 1, daemons);
    expect(await worker.ended).toBe(0);
    expect(await batch.record()).toMatchObject({ state: 'closed', remaining: 0, starts: {} });
    const ended = await batch.ended();
    expect(ended.map((item) => item?.['outcome'])).toEqual(['completed', 'completed', 'completed']);
    undisturbed = await workers.rows(batch);
    expect(undisturbed).toMatchObject([
      { outcome: 'completed', metadata: { source: '{}' } },
      { outcome: 'completed', metadata: { source: '{}' } },
      { outcome: 'completed', metadata: { source: '{"note":3}' }, attempt: 1 },
    ]);
    // Each served its one prompt, or none, and has ended.
    for (const container of daemons.containers) {
      await expect
        .poll(async () => (await container.inspect()).State)
        .toMatchObject({
          Running: false,
          ExitCode: 0,
        });
    }
  });

  it('is killed right after it stored a row: the next launch adopts it and goes on', async () => {
    const batch = await workers.plan({ run: 'stored', rows: ROWS });
    await batch.launch(1);
    let commits = 0;
    const proxy = await startHoldingProxy(workers.emulator().endpoint, ({ target, body }) => {
      const isCommit = target.endsWith('.TransactWriteItems') && body.includes('ATTEMPT#');
      if (isCommit) commits += 1;
      return isCommit && commits === 2;
    });
    const killed = await workers.start(batch, 1, await workers.daemons(4), proxy.endpoint);
    await proxy.held;
    killed.child.kill('SIGKILL');
    expect(await killed.ended).toBe('SIGKILL');
    await proxy.close();
    expect(await batch.record()).toMatchObject({
      state: 'running',
      remaining: 2,
      starts: { 1: 1 },
    });

    await batch.launch(2, { careful: true });
    const next = await workers.start(batch, 2, await workers.daemons(2));
    expect(await next.ended).toBe(0);
    expect(await batch.record()).toMatchObject({ state: 'closed', remaining: 0, starts: {} });
    const attempts = await workers.work(batch, 2).attempts();
    expect(
      attempts.map(({ position, launch, entry }) => [position, launch, entry.adopted]),
    ).toEqual([
      [0, 1, false],
      [1, 1, true],
      [2, 2, false],
    ]);
    expect(next.lines().filter(({ message }) => message === 'attempt started')).toHaveLength(1);
    expect(await workers.rows(batch)).toEqual(undisturbed);
  });

  it('is killed in the middle of a prompt: the next launch does that one last', async () => {
    const batch = await workers.plan({ run: 'killed', rows: ROWS });
    await batch.launch(1);
    const proxy = await startHoldingProxy(
      workers.emulator().endpoint,
      ({ method, path }) => method === 'PUT' && path.includes('/samples/0/1-1.json'),
    );
    const killed = await workers.start(batch, 1, await workers.daemons(4), proxy.endpoint);
    await proxy.held;
    killed.child.kill('SIGKILL');
    await killed.ended;
    await proxy.close();

    await batch.launch(2, { careful: true });
    const next = await workers.start(batch, 2, await workers.daemons(2));
    expect(await next.ended).toBe(0);
    const attempts = await workers.work(batch, 2).attempts();
    expect(attempts.map(({ position, launch }) => [position, launch])).toEqual([
      [0, 1],
      [1, 2],
      [2, 2],
    ]);
    const [first, last] = attempts.slice(1).map(({ entry }) => entry.timing.started_at);
    expect(String(last) < String(first)).toBe(true);
    expect(await workers.rows(batch)).toEqual(undisturbed);
    expect(await batch.record()).toMatchObject({ state: 'closed', remaining: 0, starts: {} });
  });

  it('hands back at SIGTERM, with nothing lost and no attempt counted', async () => {
    const batch = await workers.plan({ run: 'stopped', rows: ROWS });
    await batch.launch(1);
    const first = await workers.start(batch, 1, await workers.daemons(4));
    await first.logged('attempt started');
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    const handed = await batch.record();
    expect(handed).toMatchObject({ state: 'waiting', careful: false, launch: 1 });
    expect(Object.values(handed.starts).filter((count) => count > 0)).toEqual([]);
    const before = await workers.work(batch, 1).attempts();
    expect(before.length).toBe(3 - handed.remaining);

    await batch.launch(2);
    const next = await workers.start(batch, 2, await workers.daemons(4));
    expect(await next.ended).toBe(0);
    expect(await workers.rows(batch)).toEqual(undisturbed);
  });

  it('does not touch a batch that another launch has', async () => {
    const batch = await workers.plan({ run: 'other', rows: ROWS });
    await batch.launch(2);
    const worker = await workers.start(batch, 1, await workers.daemons(1));
    expect(await worker.ended).toBe(3);
    expect(await batch.record()).toMatchObject({ state: 'launching', launch: 2, remaining: 3 });
  });
});
