import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { sandboxNetwork } from '../../../src/adapters/sandbox/docker/sandbox-network.ts';
import { SandboxLostError } from '../../../src/core/ports/sandbox.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { besides, useDockerPairs } from '../../support/docker-pairs.ts';
import { runIn } from '../../support/sandbox-run.ts';

const isThere = await hasDocker();
const spec = { promptId: 'p', image: '', cwd: '' };

describe.runIf(isThere)('one of two sandboxes of an image', { timeout: 120_000 }, () => {
  const { docker, make, openTwo, containersOf } = useDockerPairs();

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

  it.each(['bridge', 'own'])(
    'reaches the other by network on none but a shared one: %s',
    async (kind) => {
      const network = kind === 'own' ? await sandboxNetwork(docker) : kind;
      const [one, other] = await openTwo({ network });
      await one.startProcess({ command: 'exec nc -ll -p 8099 -e echo reached' });
      const reach = (address: string) => `nc -w 2 ${address} 8099 < /dev/null`;
      await expect.poll(async () => (await runIn(one, reach('127.0.0.1'))).text).toBe('reached\n');
      const { text } = await runIn(one, "hostname -i | tr ' ' '\\n' | grep -m 1 '^[1-9]'");
      const address = text.trim();
      expect(address).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
      const reached = (await runIn(other, reach(address))).text;
      // That the check can fail is shown by Docker's own network.
      if (kind === 'own') expect(reached).toMatch(/timed out|unreachable|refused/);
      else expect(reached).toBe('reached\n');
      expect((await runIn(other, 'ip route')).text).toMatch(/^default via/);
    },
  );

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
