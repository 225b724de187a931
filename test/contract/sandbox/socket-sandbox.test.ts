import { stat, symlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connectSandboxes,
  type SocketSandboxes,
} from '../../../src/adapters/sandbox/socket-sandboxes.ts';
import type { SandboxProvider } from '../../../src/core/ports/sandbox.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeImage, type TestImage } from '../../support/docker-images.ts';
import { testRuntime } from '../../support/docker-sandboxes.ts';
import { runIn } from '../../support/sandbox-run.ts';
import { type SocketDaemons, startSocketDaemons } from '../../support/socket-daemons.ts';
import { describeFiles } from './files-contract.ts';
import { describeOutput } from './output-contract.ts';

const isThere = await hasDocker();
const spec = { promptId: 'p', image: '', cwd: '' };
const SOON = { timeout: 20_000 };

describe.runIf(isThere)('sandboxes by socket', { timeout: 60_000 }, () => {
  const docker = new Docker();
  const started: { daemons: SocketDaemons; sandboxes: SocketSandboxes }[] = [];
  // Made before any suite waits for it.
  beforeAll(async () => void (await testRuntime(docker)), 120_000);
  afterAll(async () => {
    for (const { daemons, sandboxes } of started) {
      sandboxes.close();
      await daemons.dispose();
    }
  });

  async function task(count: number, image: TestImage = 'bash') {
    const daemons = await startSocketDaemons(docker, await makeImage(docker, image), count);
    const sandboxes = await connectSandboxes({
      sockets: daemons.sockets,
      connectTimeoutMs: 30_000,
      signal: new AbortController().signal,
    });
    started.push({ daemons, sandboxes });
    return { ...daemons, sandboxes };
  }

  // What is the protocol's has its tests over stdio: these carry the largest messages.
  const provider: SandboxProvider = {
    open: async (of) => (await task(1)).sandboxes.open(of),
  };
  const open = (cwd = '') => provider.open({ ...spec, cwd });
  describeFiles(open);
  describeOutput(open);

  it.each(['busybox', 'static', 'user', 'unnamed-user', 'everything'] as const)(
    'works in any image: %s',
    async (image) => {
      const { sandboxes, containers } = await task(1, image);
      const sandbox = await sandboxes.open({ ...spec, cwd: 'made' });
      expect((await runIn(sandbox, 'echo hi > a; cat a; basename "$PWD"')).text).toBe('hi\nmade\n');
      await sandbox.close();
      await expect.poll(async () => (await containers[0]?.inspect())?.State.ExitCode, SOON).toBe(0);
      await expect
        .poll(async () => (await containers[0]?.inspect())?.State.Running, SOON)
        .toBe(false);
    },
  );

  it('gives prompts their sandboxes in order, one each, and ends those that none needs', async () => {
    const { sandboxes, containers } = await task(4);
    expect(sandboxes.answered).toBe(4);
    sandboxes.keep(2, () => undefined);
    const running = async () =>
      (await Promise.all(containers.map((of) => of.inspect()))).map(({ State }) => State.Running);
    await expect.poll(running, SOON).toEqual([true, true, false, false]);
    const [one, two] = [await sandboxes.open(spec), await sandboxes.open(spec)];
    await runIn(one, 'echo one > /root/file');
    expect((await runIn(two, 'ls /root/file')).exitCode).not.toBe(0);
    await expect(sandboxes.open(spec)).rejects.toThrow('no sandbox is left in this task');
    await one.close();
    await expect.poll(running, SOON).toEqual([false, true, false, false]);
    await expect(sandboxes.open(spec)).rejects.toThrow('no sandbox is left');
    expect((await runIn(two, 'echo still here')).text).toBe('still here\n');
  });

  it('has ended what ran in it when its close is done', async () => {
    const { sandboxes } = await task(1);
    const sandbox = await sandboxes.open(spec);
    const port = 40_000 + (process.pid % 20_000);
    const held = `nc -ll -p ${port} -e cat`;
    await runIn(sandbox, `(setsid ${held} &)`);
    const listens = async () => (await runIn(sandbox, `netstat -ltn | grep -c :${port}`)).text;
    await expect.poll(listens, SOON).toBe('1\n');
    await sandbox.close();
    const reached = new Promise((resolve) => {
      connect(port, '127.0.0.1').on('error', resolve).on('connect', resolve);
    });
    expect(await reached).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('serves one connection ever, on a socket that any user may use', async () => {
    const daemons = await startSocketDaemons(docker, await makeImage(docker, 'user'), 1);
    const [socket = ''] = daemons.sockets;
    await expect
      .poll(
        () =>
          stat(socket).then(
            ({ mode }) => mode & 0o777,
            () => 0,
          ),
        SOON,
      )
      .toBe(0o666);
    const sandboxes = await connectSandboxes({
      sockets: daemons.sockets,
      connectTimeoutMs: 30_000,
      signal: new AbortController().signal,
    });
    started.push({ daemons, sandboxes });
    const sandbox = await sandboxes.open(spec);
    const second = new Promise((resolve) => {
      connect(socket).on('error', resolve).on('close', resolve);
    });
    expect(await second).toMatchObject({ code: 'ENOENT' });
    expect((await runIn(sandbox, 'echo fine')).text).toBe('fine\n');
  });

  it('ignores SIGTERM, in the container and to the daemon itself', async () => {
    const { sandboxes, containers } = await task(1);
    const sandbox = await sandboxes.open(spec);
    await containers[0]?.kill({ signal: 'SIGTERM' });
    await runIn(sandbox, 'kill -TERM $PPID; kill -TERM 1; sleep 0.2');
    expect((await runIn(sandbox, 'echo fine')).text).toBe('fine\n');
  });

  it('tells that all are lost before any prompt meets it; of one, 2 s later', async () => {
    const { sandboxes, containers } = await task(2);
    const told: string[] = [];
    sandboxes.keep(2, (why) => told.push(why));
    const sandbox = await sandboxes.open(spec);
    const running = runIn(sandbox, 'sleep 30').catch((error: Error) => [error.message, ...told]);
    await Promise.all(containers.map((of) => of.kill()));
    expect(await running).toEqual(['the sandbox ended', 'the sandbox ended']);

    const alone = await task(2);
    alone.sandboxes.keep(2, (why) => told.push(why));
    const other = await alone.sandboxes.open(spec);
    const from = performance.now();
    await alone.containers[0]?.kill();
    await expect(runIn(other, 'true')).rejects.toThrow('the sandbox ended');
    expect(performance.now() - from).toBeGreaterThan(1_500);
    expect(told).toHaveLength(1);
    expect((await runIn(await alone.sandboxes.open(spec), 'echo fine')).text).toBe('fine\n');
  });

  it('follows no link to another socket, and waits for none that does not come', async () => {
    const { folder } = await task(1);
    const link = join(folder, 'link.sock');
    await symlink(join(folder, '0', 'sandbox.sock'), link);
    const none = await connectSandboxes({
      sockets: [link, join(folder, 'none.sock')],
      connectTimeoutMs: 300,
      signal: new AbortController().signal,
    });
    expect(none.answered).toBe(0);
    expect([...none.problems].sort()).toEqual([
      `${link}: expected a socket`,
      `no sandbox listens on ${join(folder, 'none.sock')}`,
    ]);
  });
});
