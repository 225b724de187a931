import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeImage, runtimeBases } from '../../support/docker-images.ts';
import { type ModelServer, startModelServer } from '../../support/model-server.ts';
import { refusal, type ScriptedReply, text, toolCall } from '../../support/model-server-replies.ts';
import { makeWorkshop, type Workshop } from '../../support/talaria-process.ts';

const CACHE = new URL('../../../.cache/', import.meta.url).pathname;
const isThere = await hasDocker();

describe.runIf(isThere)('containers started ahead, in a run', { timeout: 120_000 }, () => {
  const docker = new Docker();
  let shop: Workshop;
  let provider: ModelServer;
  let answer: (turn: number) => ScriptedReply | Promise<ScriptedReply>;
  let env: Record<string, string>;
  let image: string;
  beforeAll(async () => {
    shop = await makeWorkshop();
    provider = await startModelServer({
      reply: ({ body }) => answer(body.messages.filter(({ role }) => role === 'tool').length),
    });
    image = await makeImage(docker, 'bash');
    const bases = await runtimeBases(docker);
    env = {
      XDG_CACHE_HOME: CACHE,
      TALARIA_NODE_IMAGE: bases['NODE_IMAGE'] ?? '',
      TALARIA_BUSYBOX_IMAGE: bases['BUSYBOX_IMAGE'] ?? '',
    };
    await shop.dataset(Array.from({ length: 6 }, (_, at) => ({ prompt: `p${at}`, image })));
  }, 120_000);
  afterAll(async () => {
    await shop.dispose();
    await provider.close();
  });
  const start = (runName: string, more: Record<string, string | boolean> = {}) => {
    const model = { model: 'm', base_url: provider.baseUrl, api_key: 'sk-none' };
    const settings = {
      num_workers: 2,
      batch_size: 1,
      sandbox_network: 'none',
      toolsets: 'terminal',
    };
    return shop.start({ run_name: runName, ...settings, ...model, ...more }, { env });
  };
  const all = (runName: string) =>
    docker.listContainers({ all: true, filters: { label: [`talaria.run=${runName}`] } });
  /** Waits until two prompts hang in their containers and two more containers wait. */
  const twoAndTwo = (runName: string) =>
    expect
      .poll(
        async () => {
          const running = (await all(runName)).filter(({ State }) => State === 'running');
          const spares = running.filter(({ Names }) => Names[0]?.includes('-spare-'));
          return [running.length, spares.length];
        },
        { timeout: 60_000 },
      )
      .toEqual([4, 2]);
  /** Lets the model answer nothing until it is told what. */
  function hold(): (reply: ScriptedReply) => void {
    let release: (reply: ScriptedReply) => void = () => undefined;
    const held = new Promise<ScriptedReply>((resolve) => {
      release = resolve;
    });
    answer = () => held;
    return release;
  }

  it('gives each prompt one of its own and leaves none', async () => {
    const count = { command: 'echo once >> ~/mine; wc -l < ~/mine' };
    answer = (turn) => (turn === 0 ? toolCall('terminal', count) : text('done'));
    const { code } = await start('ahead').ended;
    expect(code).toBe(0);
    const rows = await readFile(join(shop.folder('ahead'), 'trajectories.jsonl'), 'utf8');
    expect(rows.match(/"output\\":\\"1\\\\n/g)).toHaveLength(6);
    expect(await all('ahead')).toEqual([]);
  });

  it('are gone as soon as a signal ends the run', async () => {
    const release = hold();
    const run = start('ahead-signal');
    await twoAndTwo('ahead-signal');
    run.kill('SIGINT');
    // The prompts still wait for the model.
    await expect.poll(() => all('ahead-signal'), { timeout: 30_000 }).toHaveLength(2);
    release(text('done'));
    expect((await run.ended).code).toBe(130);
    expect(await all('ahead-signal')).toEqual([]);
  });

  it('are gone when the provider has refused the run', async () => {
    const release = hold();
    const run = start('ahead-refused');
    await twoAndTwo('ahead-refused');
    release(refusal(402, 'no credit'));
    expect((await run.ended).code).toBe(1);
    expect(await all('ahead-refused')).toEqual([]);
  });

  it('end with a process that is killed, and are swept by the next', async () => {
    hold();
    const run = start('ahead-killed');
    await twoAndTwo('ahead-killed');
    run.kill('SIGKILL');
    await run.ended;
    const running = async () =>
      (await all('ahead-killed')).filter(({ State }) => State === 'running');
    await expect.poll(running, { timeout: 30_000 }).toEqual([]);
    answer = () => text('done');
    expect((await start('ahead-killed', { resume: true }).ended).code).toBe(0);
    expect(await all('ahead-killed')).toEqual([]);
  });
});
