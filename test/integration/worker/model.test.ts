import { afterEach, describe, expect, it } from 'vitest';
import { hasDocker } from '../../support/docker-daemon.ts';
import { hasEmulator } from '../../support/emulator.ts';
import {
  type ModelServer,
  type ModelServerScript,
  startModelServer,
} from '../../support/model-server.ts';
import { text } from '../../support/model-server-replies.ts';
import { useWorkers } from '../../support/worker-harness.ts';

const canRun = hasEmulator() && (await hasDocker());
const ROWS = [{ prompt: 'one' }, { prompt: 'two' }, { prompt: 'three' }];

describe.runIf(canRun)('what a worker sends to a model', { timeout: 180_000 }, () => {
  const workers = useWorkers('worker-model');
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

  it('pauses the run in the words of a provider that refuses the key', async () => {
    const body = { error: { message: 'This key is of nobody.' } };
    const config = configOf(await serve(() => ({ status: 401, body })));
    const batch = await workers.plan({ run: 'refused', rows: ROWS, config });
    await batch.launch(1);
    const { sockets } = await workers.daemons(3);
    expect(await workers.run(batch, 1, sockets).end).toBe('handed_back');
    expect(await batch.runRecord()).toMatchObject({
      state: 'pausing',
      reason: expect.stringContaining('This key is of nobody.'),
    });
    expect(await batch.record()).toMatchObject({ state: 'waiting', remaining: 3, starts: {} });
    const [attempt, ...others] = await workers.work(batch, 1).attempts();
    expect(attempt?.entry.outcome).toBe('failed/auth');
    expect(others).toEqual([]);
    expect(await batch.ended()).toEqual([undefined, undefined, undefined]);
  });

  it('sends each key to its own host, and none to any other', async () => {
    const server = await serve(() => text('Done.'));
    const { host } = new URL(server.baseUrl);
    const keysOf = async (run: string, keys: Record<string, string>) => {
      const from = server.requests.length;
      const batch = await workers.plan({ run, rows: [{ prompt: 'hi' }], config: configOf(server) });
      await batch.launch(1);
      const { sockets } = await workers.daemons(1);
      const end = workers.run(batch, 1, sockets, { modelKeys: JSON.stringify(keys) }).end;
      expect(await end).toBe('closed');
      return server.requests.slice(from).map(({ headers }) => headers.authorization);
    };
    const others = { '127.0.0.1': 'sk-no-port', 'openrouter.ai': 'sk-other', '*': 'sk-any' };
    expect(await keysOf('keys-none', others)).toEqual([undefined]);
    expect(await keysOf('keys-own', { ...others, [host]: 'sk-own-key' })).toEqual([
      'Bearer sk-own-key',
    ]);
  });

  it('sends what is private, and stores nothing of it', async () => {
    const server = await serve(() => text('Done.'));
    const secret = {
      ephemeral_system_prompt: 'Be a quiet assistant.',
      prefill_messages: [{ role: 'user', content: 'A first word.' }],
    };
    const batch = await workers.plan({
      run: 'private',
      rows: [{ prompt: 'hi' }],
      config: configOf(server),
      secret,
    });
    await batch.launch(1);
    const { sockets } = await workers.daemons(1);
    expect(await workers.run(batch, 1, sockets).end).toBe('closed');
    expect(server.requests[0]?.body.messages.map(({ content }) => content)).toEqual([
      'Be a quiet assistant.',
      'A first word.',
      'hi',
    ]);
    expect(JSON.stringify(await workers.rows(batch))).not.toMatch(/quiet assistant|first word/);
  });

  it.each([
    ['a key that cannot be sent', { modelKeys: '{"127.0.0.1:9": "ключ"}' }, /visible ASCII/],
    ['keys that are none', { modelKeys: 'sk-secret' }, /^MODEL_KEYS: expected a JSON object/],
  ])('pauses the run over %s', async (name, changes, reason) => {
    const config = { model: 'test/model', base_url: 'http://127.0.0.1:9/v1' };
    const batch = await workers.plan({ run: name.replaceAll(' ', '-'), rows: ROWS, config });
    await batch.launch(1);
    const { sockets } = await workers.daemons(1);
    expect(await workers.run(batch, 1, sockets, changes).end).toBe('handed_back');
    const run = await batch.runRecord();
    expect(run).toMatchObject({ state: 'pausing', reason: expect.stringMatching(reason) });
    expect(run.reason).not.toContain('sk-secret');
    expect(await batch.record()).toMatchObject({ state: 'waiting', starts: {}, remaining: 3 });
  });
});
