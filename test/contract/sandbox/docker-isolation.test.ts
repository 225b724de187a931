import { fileURLToPath } from 'node:url';
import type Docker from 'dockerode';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { DockerSandboxDeps } from '../../../src/adapters/sandbox/docker/docker-sandbox.ts';
import { type Sandbox, SandboxLostError } from '../../../src/core/ports/sandbox.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeDockerProvider } from '../../support/docker-sandboxes.ts';
import { runIn } from '../../support/sandbox-run.ts';
import { toolCaller } from '../../support/sandbox-tools.ts';

const isThere = await hasDocker();
const spec = { promptId: 'p', image: '', cwd: '' };
const MIB = 1024 * 1024;

describe.runIf(isThere)('two sandboxes of one image', { timeout: 60_000 }, () => {
  const disposers: (() => Promise<void>)[] = [];
  let docker: Docker;
  beforeAll(async () => {
    ({ docker } = await make());
  }, 120_000);
  afterEach(async () => {
    await Promise.all(disposers.splice(0).map((dispose) => dispose()));
  });
  async function make(overrides: Partial<DockerSandboxDeps> = {}) {
    const made = await makeDockerProvider('bash', overrides);
    disposers.push(made.dispose);
    return made;
  }
  async function openTwo(limits: Partial<DockerSandboxDeps['limits']> = {}, runName = 'pair') {
    const { provider } = await make({ runName, limits: { network: 'none', ...limits } });
    return await Promise.all([provider.open(spec), provider.open(spec)]);
  }
  /** That the neighbour goes on working, while and after `act` goes wrong in the other. */
  async function besides<T>(neighbour: Sandbox, act: () => Promise<T>): Promise<T> {
    const fine = async () => {
      expect((await runIn(neighbour, 'echo fine')).text).toBe('fine\n');
    };
    const [result] = await Promise.all([act(), fine()]);
    await fine();
    return result;
  }
  const containersOf = (runName: string) =>
    docker.listContainers({ all: true, filters: { label: [`talaria.run=${runName}`] } });

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
    const command = 'for i in 1 2 3 4; do head -c 50000000 /dev/zero > f$i; done; sleep 30';
    const lost = besides(neighbour, () => runIn(filler, command).catch((error: unknown) => error));
    expect(await lost).toBeInstanceOf(SandboxLostError);
    expect(String(await lost)).toMatch(/wrote \d+ MiB to its disk, .* limit of 64 MiB/);
    await filler.close();
    expect(await containersOf('filled')).toHaveLength(1);
  });

  it('looks at nothing but what is written: a limit that is kept ends nobody', async () => {
    const [writer] = await openTwo({ diskBytes: 64 * MIB });
    const command = 'for i in 1 2 3; do head -c 20000000 /dev/zero > f$i; done; sleep 3; ls';
    expect(await runIn(writer, command)).toMatchObject({ text: 'f1\nf2\nf3\n', exitCode: 0 });
  });

  it('ends the command that takes all memory, says so, and keeps the sandbox', async () => {
    const [hog, neighbour] = await openTwo({ memoryBytes: 128 * MIB });
    await runIn(hog, 'export CASE=kept');
    const grow = 'x=$(head -c 400000000 /dev/zero | tr "\\0" x); echo "$x" | wc -c';
    for (let round = 0; round < 3; round += 1) {
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
      runIn(bomb, 'f() { f | f & }; f; sleep 2', { timeoutMs: 3_000 }).catch((error) => error),
    );
    if (end instanceof Error) expect(end).toBeInstanceOf(SandboxLostError);
    await besides(neighbour, () => bomb.close());
  });

  it('is not held up by one that prints without end', async () => {
    const [printer, neighbour] = await openTwo();
    const { id } = await printer.startProcess({ command: 'yes' });
    const before = process.memoryUsage().rss;
    const keep = { headBytes: 1_000, tailBytes: 1_000 };
    const flood = runIn(printer, 'yes', { timeoutMs: 3_000, keep });
    let answers = 0;
    const until = performance.now() + 2_500;
    while (performance.now() < until) {
      expect((await runIn(neighbour, 'echo fine')).text).toBe('fine\n');
      answers += 1;
    }
    const { stopped, text, omittedBytes } = await flood;
    expect([stopped, text.length]).toEqual(['timeout', 2_000]);
    expect(omittedBytes).toBeGreaterThan(10_000_000);
    expect(answers).toBeGreaterThan(3);
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

  it('sees neither files, processes, ports nor environment of the other', async () => {
    const [one, other] = await openTwo();
    const hide = 'cd; echo s1 > mine; echo s1 > /tmp/mine; echo s1 > /mine; export HIDDEN=s1';
    await runIn(one, hide);
    await one.startProcess({ command: 'exec nc -ll -p 8099 -e echo reached' });
    const reach = 'nc -w 2 127.0.0.1 8099 < /dev/null';
    await expect.poll(async () => (await runIn(one, reach)).text).toBe('reached\n');
    const look =
      'cat ~/mine /tmp/mine /mine 2>/dev/null; cat /proc/*/environ | tr "\\0" "\\n" | grep ^HIDDEN; ps | grep -c "[n]c -ll"; ';
    expect((await runIn(other, `${look}${reach}; true`)).text).toMatch(/^0\nnc: .*refused\n$/);
    expect((await runIn(one, look)).text).toMatch(/^(s1\n){3}(HIDDEN=s1\n)+1\n$/);
  });

  it('finds nothing of the prompt before it', async () => {
    const { provider } = await make({ runName: 'in-turn' });
    const before = await provider.open(spec);
    await runIn(
      before,
      'cd; echo s1 > left; echo s1 > /tmp/left; mkdir -p /srv/left; export LEFT=1',
    );
    await before.startProcess({ command: 'sleep 1041' });
    const [{ Id: first } = { Id: '' }] = await containersOf('in-turn');
    await before.close();
    const next = await provider.open(spec);
    const { text } = await runIn(
      next,
      'ls ~ /tmp; ls -d /srv; echo "[$LEFT]"; ps | grep "[s]leep"',
    );
    expect(text).not.toMatch(/left|sleep/);
    expect(text).toContain('[]\n');
    const [second] = await containersOf('in-turn');
    expect(second?.Id).not.toBe(first);
  });

  it('shows nothing of the host but where mounts come from, and can change none', async () => {
    vi.stubEnv('TALARIA_TEST_API_KEY', 'sk-of-the-runner');
    try {
      const [sandbox] = await openTwo();
      const { text: environ } = await runIn(sandbox, 'env; cat /proc/*/environ | tr "\\0" "\\n"');
      expect(environ).not.toMatch(/sk-of-the-runner|_KEY=|TOKEN|AWS_|DOCKER_HOST|talaria-test/);
      const { text } = await runIn(sandbox, "awk '{ print $4, $5 }' /proc/self/mountinfo");
      const sources = text
        .trim()
        .split('\n')
        .map((line) => line.split(' '))
        .filter(([from]) => from !== '/')
        .filter(([, to]) => !/^\/(proc|sys\/fs\/cgroup)\//.test(`${to}`))
        .map(([, to]) => to);
      // Docker's own three, and the runtime; where that is on the host can be read here.
      const known = ['/.talaria', '/etc/hosts', '/etc/hostname', '/etc/resolv.conf'];
      expect(sources.sort()).toEqual(known.sort());
      const writes =
        'for f in daemon.mjs new bin/new; do echo x > /.talaria/$f; done; mount -o remount,rw /.talaria; echo x > /proc/sysrq-trigger; ls /var/run/docker.sock';
      const { text: refused } = await runIn(sandbox, writes);
      expect(refused.match(/read-only/gi)?.length).toBeGreaterThanOrEqual(3);
      expect(refused).toMatch(/docker\.sock: No such file/);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('lets file tools reach nothing outside, by links or by ..', async () => {
    const [one, other] = await openTwo();
    await runIn(other, 'echo s1 > /root/mine');
    const host = fileURLToPath(import.meta.url);
    await runIn(one, `cd; ln -s ${host} link; ln -s / up; ln -s /proc/1/root/root/mine through`);
    for (const path of [
      'link',
      host,
      `up${host}`,
      `../../../../../..${host}`,
      'through',
      '/root/mine',
    ]) {
      await expect(one.readFile(path, 10)).rejects.toMatchObject({ code: 'not_found' });
    }
    await one.writeFile('../../../../../../made', Buffer.from('x'));
    expect((await runIn(one, 'ls -d /made; ls -d /root/../made')).text).toBe(
      '/made\n/root/../made\n',
    );
    await expect(one.writeFile('/.talaria/x', Buffer.from('x'))).rejects.toMatchObject({
      name: 'SandboxFileError',
    });
  });

  it('opens while another start takes too long, which is cleaned up', async () => {
    const { provider: late } = await make({ runName: 'too-late', startTimeoutMs: 5 });
    const { provider } = await make();
    const [given, opened] = await Promise.all([
      late.open(spec).catch((error: unknown) => error),
      provider.open(spec),
    ]);
    expect(given).toBeInstanceOf(SandboxLostError);
    expect((await runIn(opened, 'echo fine')).text).toBe('fine\n');
    await expect.poll(() => containersOf('too-late'), { timeout: 10_000 }).toEqual([]);
  });

  it('goes on while another is frozen, which is given up', async () => {
    const { provider } = await make({ runName: 'frozen' });
    const [frozen, [neighbour]] = [await provider.open(spec), await openTwo()];
    const [{ Id } = { Id: '' }] = await containersOf('frozen');
    const container = docker.getContainer(Id);
    const running = runIn(frozen, 'sleep 30').catch((error: unknown) => error);
    await container.pause();
    await besides(neighbour, () => frozen.close());
    expect(await running).toBeInstanceOf(SandboxLostError);
    await expect(container.inspect()).rejects.toThrow(/no such container/i);
  });
});
