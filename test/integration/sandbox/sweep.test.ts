import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeImage, runtimeBases } from '../../support/docker-images.ts';
import { type ModelServer, startModelServer } from '../../support/model-server.ts';
import { toolCall } from '../../support/model-server-replies.ts';
import { BUNDLE, runToEnd } from '../../support/talaria-command.ts';
import { makeWorkshop, until, type Workshop } from '../../support/talaria-process.ts';

const CACHE = new URL('../../../.cache/', import.meta.url).pathname;
const isThere = await hasDocker();

describe('talaria sandbox sweep', { timeout: 120_000 }, () => {
  let shop: Workshop;
  let provider: ModelServer;
  beforeAll(async () => {
    shop = await makeWorkshop();
    provider = await startModelServer({
      reply: () => toolCall('terminal', { command: 'sleep 99' }),
    });
    await shop.dataset(['any']);
  });
  afterAll(async () => {
    await shop.dispose();
    await provider.close();
  });
  const temporary = () => join(shop.path, 'tmp');
  const sweep = (env: Record<string, string> = {}, ...words: string[]) =>
    runToEnd(process.execPath, [BUNDLE, 'sandbox', 'sweep', ...words], shop.path, {
      env: { TMPDIR: temporary(), ...env },
    });
  async function swept(env: Record<string, string> = {}) {
    const { code, stdout } = await sweep(env, '--json');
    return { code, ...JSON.parse(stdout) };
  }
  /** A run whose one prompt sleeps until it is killed. */
  function start(runName: string, flags: Record<string, string> = {}, env = {}) {
    const model = { model: 'm', base_url: provider.baseUrl, api_key: 'sk-none' };
    return shop.start({ run_name: runName, ...model, ...flags }, { env });
  }
  const sandboxFolders = () =>
    readdirSync(temporary(), { recursive: true }).filter((path) => /\/work$/.test(String(path)));
  const NO_DOCKER = { DOCKER_HOST: 'tcp://127.0.0.1:1' };

  it('removes the folder and processes of a killed run, without a Docker daemon too', async () => {
    const dead = start('dead');
    const live = start('live');
    await until(() => sandboxFolders().length === 2);
    dead.kill('SIGKILL');
    await dead.ended;
    expect(await swept(NO_DOCKER)).toMatchObject({
      code: 0,
      containers: null,
      docker_error: expect.stringContaining('127.0.0.1:1'),
      stuck: [],
    });
    expect(sandboxFolders()).toHaveLength(1);
    const { code, stdout } = await sweep(NO_DOCKER);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^removed: 0 folders, 0 processes, 0 containers\nno Docker daemon/);
    expect(live.hasEnded()).toBe(false);
    live.kill('SIGKILL');
    await live.ended;
    expect(await swept(NO_DOCKER)).toMatchObject({ code: 0 });
    expect(sandboxFolders()).toEqual([]);
  });

  it('teaches, and refuses what is not there', async () => {
    const { code, stdout } = await sweep({}, '--help');
    expect(code).toBe(0);
    expect(stdout).toContain('talaria.expires');
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(await sweep({}, '--dry')).toMatchObject({ code: 2 });
  });

  it.runIf(isThere)('removes containers of dead runs and late ones, no live one', async () => {
    const docker = new Docker();
    const image = await makeImage(docker, 'busybox');
    const bases = await runtimeBases(docker);
    const env = {
      XDG_CACHE_HOME: CACHE,
      TALARIA_NODE_IMAGE: bases['NODE_IMAGE'] ?? '',
      TALARIA_BUSYBOX_IMAGE: bases['BUSYBOX_IMAGE'] ?? '',
    };
    const containersOf = (run: string) =>
      docker.listContainers({ all: true, filters: { label: [`talaria.run=${run}`] } });
    async function sleeping(run: string) {
      for (;;) {
        const [found] = await containersOf(run);
        if (found?.State === 'running') return found;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    const flags = { sandbox: 'docker', default_image: image, sandbox_network: 'none' };
    for (const { Id } of await containersOf('swept-early')) {
      await docker.getContainer(Id).remove();
    }
    const [dead, live] = [start('swept-dead', flags, env), start('swept-live', flags, env)];
    const { ImageID: Image, Labels } = await sleeping('swept-live');
    await sleeping('swept-dead');
    const others = { ...Labels, 'talaria.owner': '1.1.1-', 'talaria.host': 'another' };
    const late = { 'talaria.run': 'swept-late', 'talaria.expires': '2020-01-01T00:00:00Z' };
    await docker.createContainer({ Image, Cmd: ['true'], Labels: { ...others, ...late } });
    const early = { 'talaria.run': 'swept-early' };
    const kept = await docker.createContainer({
      Image,
      Cmd: ['true'],
      Labels: { ...others, ...early },
    });
    dead.kill('SIGKILL');
    await dead.ended;
    // Other runs of this machine sweep too: who was first is open, that they are gone is not.
    expect(await swept()).toMatchObject({
      code: 0,
      containers: expect.any(Number),
      docker_error: null,
      stuck: [],
    });
    for (const run of ['swept-dead', 'swept-late']) {
      await expect.poll(() => containersOf(run), { timeout: 10_000 }).toEqual([]);
    }
    expect(await containersOf('swept-early')).toHaveLength(1);
    expect(await containersOf('swept-live')).toMatchObject([{ State: 'running' }]);
    await kept.remove();
    live.kill('SIGKILL');
    await live.ended;
    // The next run with containers does the same at its start.
    const next = shop.run({ run_name: 'swept-next', model: 'rehearsal', ...flags }, { env });
    expect(await next).toMatchObject({ code: 0 });
    await expect.poll(() => containersOf('swept-live'), { timeout: 10_000 }).toEqual([]);
  });
});
