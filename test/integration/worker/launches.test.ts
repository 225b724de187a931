import { afterEach, describe, expect, it } from 'vitest';
import { hasDocker } from '../../support/docker-daemon.ts';
import { hasEmulator } from '../../support/emulator.ts';
import {
  type ModelServer,
  type ModelServerScript,
  startModelServer,
} from '../../support/model-server.ts';
import { text, toolCall } from '../../support/model-server-replies.ts';
import { useWorkers } from '../../support/worker-harness.ts';

const canRun = hasEmulator() && (await hasDocker());
const SOON = { timeout: 90_000 };
const ROWS = [{ prompt: 'one' }, { prompt: 'two' }, { prompt: 'three' }];

describe.runIf(canRun)('launches of a worker', { timeout: 180_000 }, () => {
  const workers = useWorkers('launches');
  const servers: ModelServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  async function serve(reply: ModelServerScript['reply']) {
    const server = await startModelServer({ reply });
    servers.push(server);
    return server;
  }
  const configOf = ({ baseUrl }: ModelServer) => ({ model: 'test/model', base_url: baseUrl });

  it('tries what failed once in each launch, up to max_attempts', async () => {
    const config = configOf(await serve(() => text('Done.')));
    const batch = await workers.plan({ run: 'tries', rows: ROWS, config });
    // One sandbox for three prompts: the others find none.
    for (const launch of [1, 2, 3]) {
      await batch.launch(launch);
      const { sockets } = await workers.daemons(1);
      const end = await workers.run(batch, launch, sockets).end;
      // The first that is owed gets it.
      expect([launch, end]).toEqual([launch, launch < 3 ? 'handed_back' : 'closed']);
      expect(await batch.record()).toMatchObject({
        remaining: 3 - launch,
        starts: {},
      });
    }
    const attempts = await workers.work(batch, 3).attempts();
    expect(attempts.map(({ position, entry }) => `${position} ${entry.outcome}`)).toEqual([
      '0 completed',
      '1 failed/sandbox_lost',
      '1 completed',
      '2 failed/sandbox_lost',
      '2 failed/sandbox_lost',
      '2 completed',
    ]);
  });

  it('ends a prompt that failed max_attempts times, or ended its worker three times', async () => {
    const config = { ...configOf(await serve(() => text('Done.'))), max_attempts: 1 };
    const batch = await workers.plan({ run: 'last', rows: ROWS, config });
    await batch.launch(4, { starts: { 1: 3 }, careful: true });
    const { sockets } = await workers.daemons(1);
    expect(await workers.run(batch, 4, sockets).end).toBe('closed');
    const ended = await batch.ended();
    expect(ended.map((item) => item?.['outcome'])).toEqual([
      'completed',
      'failed/internal',
      'failed/sandbox_lost',
    ]);
    const attempts = await workers.work(batch, 4).attempts();
    expect(attempts[1]).toMatchObject({
      sample_key: '',
      is_final: true,
      entry: { reason: 'ended its worker three times', timing: { attempt: 1 } },
    });
  });

  it('stops, and writes nothing more, when it has lost its lease', async () => {
    const config = configOf(await serve(() => ({ ...text('Late.'), delayMs: 1_500 })));
    const batch = await workers.plan({ run: 'lease', rows: ROWS, config });
    await batch.launch(1);
    const { sockets } = await workers.daemons(3);
    const timing = { connectMs: 20_000, renewMs: 100, graceMs: 80_000 };
    const worker = workers.run(batch, 1, sockets, { timing });
    await expect.poll(() => servers[0]?.requests.length, SOON).toBe(1);
    await batch.launch(2);
    expect(await worker.end).toBe('lost');
    const after = await batch.record();
    expect(after).toMatchObject({ state: 'launching', launch: 2, remaining: 3 });
    expect(await workers.work(batch, 2).attempts()).toEqual([]);
    expect(servers[0]?.requests).toHaveLength(1);
  });

  it('keeps its lease for as long as it works', async () => {
    const config = configOf(await serve(() => ({ ...text('Done.'), delayMs: 800 })));
    const batch = await workers.plan({ run: 'renewed', rows: [{ prompt: 'hi' }], config });
    await batch.launch(1);
    const { sockets } = await workers.daemons(1);
    const timing = { connectMs: 20_000, renewMs: 50, graceMs: 80_000 };
    const worker = workers.run(batch, 1, sockets, { timing });
    await expect.poll(async () => (await batch.record()).state, SOON).toBe('running');
    const { lease_until: early } = await batch.record();
    await expect
      .poll(async () => (await batch.record()).lease_until, SOON)
      .toBeGreaterThan(early + 200);
    expect(await worker.end).toBe('closed');
  });

  it.each(['pausing', 'cancelling'] as const)('hands back when the run is %s', async (state) => {
    const config = configOf(
      await serve(() => ({ ...toolCall('terminal', { command: 'true' }), delayMs: 300 })),
    );
    const batch = await workers.plan({ run: `run-${state}`, rows: ROWS, config });
    await batch.launch(1);
    const { sockets } = await workers.daemons(3);
    const timing = { connectMs: 20_000, renewMs: 100, graceMs: 80_000 };
    const worker = workers.run(batch, 1, sockets, { timing });
    await expect.poll(() => servers[0]?.requests.length, SOON).toBe(1);
    await batch.setRun({ state });
    expect(await worker.end).toBe('handed_back');
    const after = await batch.record();
    expect(after).toMatchObject({ state: 'waiting', remaining: 3, starts: { 0: 0 } });
    expect(await workers.work(batch, 1).attempts()).toEqual([]);
  });

  it('hands back in time what a model does not answer', async () => {
    const config = configOf(await serve(() => ({ fault: 'hang' })));
    const batch = await workers.plan({ run: 'grace', rows: ROWS, config });
    await batch.launch(1);
    const { sockets } = await workers.daemons(3);
    const timing = { connectMs: 20_000, renewMs: 30_000, graceMs: 500 };
    const worker = workers.run(batch, 1, sockets, { timing });
    await expect.poll(() => servers[0]?.requests.length, SOON).toBe(1);
    worker.tellToStop();
    expect(await worker.end).toBe('handed_back');
    // Closed with it, the call fails: that is no row.
    await expect.poll(() => servers[0]?.aborted(), SOON).toBe(1);
    await expect.poll(() => worker.logged.at(-1)?.message, SOON).toBe('handed back');
    expect(await workers.objects(batch).samples(0)).toEqual([]);
    expect(await batch.record()).toMatchObject({
      state: 'waiting',
      remaining: 3,
      starts: { 0: 0 },
    });
  });

  it('hands back, and ends nothing, when all sandboxes end at once', async () => {
    const config = configOf(await serve(() => toolCall('terminal', { command: 'sleep 20' })));
    const batch = await workers.plan({ run: 'all-lost', rows: ROWS, config });
    await batch.launch(1);
    const { sockets, containers } = await workers.daemons(3);
    const worker = workers.run(batch, 1, sockets);
    await expect.poll(() => servers[0]?.requests.length, SOON).toBe(1);
    await Promise.all(containers.map((container) => container.kill()));
    expect(await worker.end).toBe('handed_back');
    const after = await batch.record();
    // Counted, in case that the prompt did it.
    expect(after).toMatchObject({ state: 'waiting', remaining: 3, starts: { 0: 1 } });
    expect(after.lease_until).toBeGreaterThan(Date.now());
    expect(await workers.work(batch, 1).attempts()).toEqual([]);
  });

  it('ends an attempt whose own sandbox is lost', async () => {
    const config = configOf(await serve(() => toolCall('terminal', { command: 'kill -9 $PPID' })));
    const batch = await workers.plan({ run: 'one-lost', rows: [{ prompt: 'hi' }], config });
    await batch.launch(1);
    const { sockets } = await workers.daemons(1);
    expect(await workers.run(batch, 1, sockets).end).toBe('handed_back');
    const [attempt] = await workers.work(batch, 1).attempts();
    expect(attempt?.entry.outcome).toBe('failed/sandbox_lost');
  });

  it('hands back the rest when the disk is short, but for the first', async () => {
    const config = configOf(await serve(() => text('Done.')));
    const batch = await workers.plan({ run: 'disk', rows: ROWS, config });
    await batch.launch(1);
    const { sockets } = await workers.daemons(3);
    expect(await workers.run(batch, 1, sockets, { freeDisk: () => 2 ** 30 }).end).toBe(
      'handed_back',
    );
    expect(await batch.record()).toMatchObject({ state: 'waiting', remaining: 2, starts: {} });
  });

  it('claims nothing where no sandbox answers', async () => {
    const batch = await workers.plan({ run: 'silent', rows: ROWS });
    await batch.launch(1);
    const timing = { connectMs: 300, renewMs: 30_000, graceMs: 80_000 };
    const worker = workers.run(batch, 1, ['/no/such/sandbox.sock'], { timing });
    expect(await worker.end).toBe('no_sandbox');
    expect(await batch.record()).toMatchObject({ state: 'launching', remaining: 3 });
    expect(worker.logged[0]?.fields).toEqual({
      problem: 'no sandbox listens on /no/such/sandbox.sock',
    });
  });
});
