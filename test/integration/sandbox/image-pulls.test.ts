import { existsSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import Docker from 'dockerode';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createImageChecks } from '../../../src/adapters/sandbox/docker/image-check.ts';
import { ImageUnavailableError, SandboxLostError } from '../../../src/core/ports/sandbox.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeDockerProvider } from '../../support/docker-sandboxes.ts';
import { startHeldRegistry } from '../../support/held-registry.ts';
import { hasRegistry, removeImagesOf } from '../../support/image-registry.ts';
import { useRegistryRuns } from '../../support/registry-runs.ts';
import { BUNDLE, runToEnd } from '../../support/talaria-command.ts';
import { until } from '../../support/talaria-process.ts';

const isThere = (await hasDocker()) && hasRegistry();
const MIB = 1024 * 1024;

describe.runIf(isThere)('pulls of images', { timeout: 120_000 }, () => {
  const runs = useRegistryRuns();

  /** An image in a registry that holds back the second half of its layer. */
  async function heldImage(name: string) {
    const { registry, docker } = runs;
    const held = await startHeldRegistry(registry.host);
    onTestFinished(async () => {
      await held.stop();
      await removeImagesOf(docker, held.host);
    });
    const { reference } = await registry.push(name, { bytes: 8 * MIB });
    return { held, reference: reference.replace(registry.host, held.host) };
  }

  /** The address of a server that takes connections and never says anything. */
  async function silentHost(): Promise<string> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('show on a terminal how far they are, and leave one line', async () => {
    const { held, reference } = await heldImage('shown');
    const { workshop, env } = runs;
    await workshop.dataset([{ prompt: 'a', image: reference }]);
    const words = ['run', '--dataset_file=prompts.jsonl', '--batch_size=1', '--run_name=shown'];
    const command = `stty cols 120 rows 24; exec '${process.execPath}' '${BUNDLE}' ${words.join(' ')} --model=rehearsal`;
    const shown = new RegExp(`pulling [\\d.]+ [KM]iB of 8\\.0 MiB: ${reference}`);
    let sent = '';
    const { code, stdout } = await runToEnd(
      'script',
      ['-qefc', command, '/dev/null'],
      workshop.path,
      {
        env: { ...env, TERM: 'xterm-256color' },
        onOutput(text) {
          sent += text;
          if (shown.test(sent)) held.letGo();
        },
      },
    );
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(shown);
    expect(stdout).toMatch(/pulled \S+\/shown:1: 8\.0 MiB in \d/);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'end at once by %s, and leave nothing',
    async (signal) => {
      const { workshop, env } = runs;
      const { reference } = await heldImage(`ended-${signal.toLowerCase()}`);
      const silent = `${await silentHost()}/a:1`;
      await workshop.dataset([
        { prompt: 'a', image: reference },
        { prompt: 'b', image: silent },
      ]);
      const started = workshop.start(
        { run_name: 'ended', model: 'rehearsal', json: true, output_dir: 'ended' },
        { env },
      );
      await started.stderrHas(`pulling ${reference}`);
      await started.stderrHas(`pulling ${silent}`);
      started.kill(signal);
      const end = await started.ended;
      expect(end.code).toBe(130);
      expect(end.stderr).toMatch(/^talaria: stopped before the first prompt/m);
      expect(JSON.parse(end.stdout).error).toMatch(/^stopped before the first prompt/);
      expect(existsSync(join(workshop.path, 'ended'))).toBe(false);
    },
  );

  it('are given up where they make no progress, and others are not', async () => {
    const { registry, docker } = runs;
    const { reference } = await heldImage('stalled');
    const other = await registry.push('other');
    const silent = `${await silentHost()}/a:1`;
    const checks = createImageChecks(docker, { stallMs: 1_500 });
    const stalled =
      /is not here, and can't be pulled: no progress for 1.5 s, so the pull was given up$/;
    const results = Promise.allSettled(
      [reference, silent, other.reference].map((image) => checks.check(image)),
    );
    const [first, second, third] = await results;
    for (const result of [first, second]) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: expect.any(ImageUnavailableError),
      });
      expect(result).toMatchObject({ reason: { message: expect.stringMatching(stalled) } });
    }
    expect(third).toMatchObject({ status: 'fulfilled', value: { pin: other.pin, isPulled: true } });
  });

  it('are not needed for the pinned image, by whatever way it came here', async () => {
    const { registry, docker } = runs;
    const { reference, pin } = await registry.push('loaded');
    const { id } = await createImageChecks(docker).check(reference);
    const saved = await buffer(await docker.getImage(reference).get());
    await docker.getImage(id).remove({ force: true });
    await docker.loadImage(Readable.from([saved])).then(buffer);
    const checks = createImageChecks(docker, { pins: new Map([[reference, { pin, id }]]) });
    expect(await checks.check(reference)).toMatchObject({ id, pin, isPulled: false });
  });

  it('bring the same image again that somebody removes in the middle of a run', async () => {
    const { registry, docker } = runs;
    const { reference, pin } = await registry.push('removed');
    const { provider, dispose } = await makeDockerProvider('static', { defaultImage: reference });
    onTestFinished(dispose);
    const spec = { promptId: 'p', image: '', cwd: '' };
    await (await provider.open(spec)).close();
    const first = await provider.images.check(reference);
    await docker.getImage(first.id).remove({ force: true });
    await registry.push('removed');
    await expect(provider.open(spec)).rejects.toThrow(/^no sandbox: No such image/);
    await (await provider.open(spec)).close();
    expect(await provider.images.check(reference)).toMatchObject({ id: first.id, pin });
  });

  it('of what the sandbox runtime is made from end the run before it begins', async () => {
    const { workshop, env, registry } = runs;
    const base = `${registry.host}/no-base:1`;
    const own = { XDG_CACHE_HOME: join(workshop.path, 'cache'), TALARIA_BUSYBOX_IMAGE: base };
    await workshop.dataset([{ prompt: 'a', image: 'any' }]);
    const flags = { run_name: 'no-base', model: 'rehearsal', output_dir: 'no-base' };
    const end = await workshop.run(flags, { env: { ...env, ...own } });
    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(
      /runtime can't be made: \S+\/no-base:1: .* manifest unknown\. TALARIA_/,
    );
    expect(existsSync(join(workshop.path, 'no-base'))).toBe(false);
  });

  it('are no fault of the image where Docker goes away', async () => {
    const server = createHttpServer((request, response) => {
      if (request.method === 'GET') {
        response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"none"}');
        return;
      }
      response.write('{"status":"Pulling from a","id":"1"}\n', () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const docker = new Docker({ host: '127.0.0.1', port, protocol: 'http' });
    const checking = createImageChecks(docker).check('a:1');
    await expect(checking).rejects.toThrow(SandboxLostError);
    await expect(checking).rejects.toThrow(/^Docker went away during the pull/);
  });

  it('are no fault of the image where the run has ended them', async () => {
    const end = new AbortController();
    const observer = {
      started: () => end.abort(),
      advanced: () => undefined,
      ended: () => undefined,
    };
    const checks = createImageChecks(runs.docker, { signal: end.signal, observer });
    const checking = checks.check(`${await silentHost()}/a:1`);
    await expect(checking).rejects.toThrow(SandboxLostError);
    await until(() => end.signal.aborted);
  });
});
