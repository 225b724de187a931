import type Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DockerSandboxDeps } from '../../../src/adapters/sandbox/docker/docker-sandbox.ts';
import { ImageUnavailableError, SandboxLostError } from '../../../src/core/ports/sandbox.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeImage, type TestImage } from '../../support/docker-images.ts';
import { makeDockerProvider, testRuntime } from '../../support/docker-sandboxes.ts';
import { runIn } from '../../support/sandbox-run.ts';

const isThere = await hasDocker();
const spec = { promptId: 'p', image: '', cwd: '' };

describe.runIf(isThere)('docker sandbox, ends and isolation', { timeout: 60_000 }, () => {
  const disposers: (() => Promise<void>)[] = [];
  let docker: Docker;
  beforeAll(async () => {
    ({ docker } = await make('bash'));
  }, 120_000);
  afterAll(async () => {
    for (const dispose of disposers) await dispose();
  });
  async function make(image: TestImage, overrides: Partial<DockerSandboxDeps> = {}) {
    const made = await makeDockerProvider(image, overrides);
    disposers.push(made.dispose);
    return made;
  }
  async function open(image: TestImage, overrides: Partial<DockerSandboxDeps> = {}, cwd = '') {
    const { provider } = await make(image, overrides);
    return provider.open({ ...spec, cwd });
  }
  const containersOf = (runName: string) =>
    docker.listContainers({ all: true, filters: { label: [`talaria.run=${runName}`] } });

  it('keeps two prompts apart, and the runtime and the host out of reach', async () => {
    const { provider, runtimeFolder } = await make('bash');
    const [one, other] = await Promise.all([provider.open(spec), provider.open(spec)]);
    await runIn(one, 'echo mine > /root/mine; export SECRET=1; sleep 999 & sleep 0.1');
    const seen = await runIn(other, 'cat /root/mine; echo "[$SECRET]"; ps | grep -c "sleep 99[9]"');
    expect(seen.text).toMatch(/No such file[^\n]*\n\[\]\n0\n$/i);
    const written = await runIn(
      one,
      'echo x > /.talaria/daemon.mjs; touch /.talaria/x; rm /.talaria/node',
    );
    expect(written.text.match(/read-only/gi)).toHaveLength(3);
    await runIn(one, `ln -s ${runtimeFolder} out; mkdir -p a; ln -s /../../../../.. a/up`);
    await expect(one.readFile('out/entry.sh', 10)).rejects.toMatchObject({ code: 'not_found' });
    expect((await runIn(one, 'ls a/up')).text).toBe((await runIn(one, 'ls /')).text);
    await Promise.all([one.close(), other.close()]);
  });

  it.each([
    ['docker kill', async (id: string) => void (await docker.getContainer(id).kill())],
    [
      'docker rm',
      async (id: string) => void (await docker.getContainer(id).remove({ force: true })),
    ],
  ])('notices within 2 s: %s', async (_, end) => {
    const { provider } = await make('bash', { runName: 'ends' });
    const sandbox = await provider.open(spec);
    const running = runIn(sandbox, 'sleep 30').catch((error: unknown) => error);
    const [container] = await containersOf('ends');
    const started = performance.now();
    await end(container?.Id ?? '');
    expect(await running).toBeInstanceOf(SandboxLostError);
    expect(performance.now() - started).toBeLessThan(2_000);
    await expect(sandbox.readFile('a', 1)).rejects.toThrow(/the sandbox ended: its container/);
    await sandbox.close();
  });

  it('is lost, with the reason, when a command kills all there is', async () => {
    const sandbox = await open('bash');
    const started = performance.now();
    await expect(runIn(sandbox, 'kill -9 -1; sleep 30')).rejects.toThrow(
      /the sandbox ended: its container exited with 137/,
    );
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it.each([
    ['kills the daemon', 'kill -9 $PPID; sleep 9', /exited with 137/],
    ['writes into its answers', 'echo garbage > /proc/$PPID/fd/1; sleep 9', /does not allow/],
  ])('is lost, with the reason, when a command %s', async (_, command, reason) => {
    const sandbox = await open('bash');
    const started = performance.now();
    const lost = runIn(sandbox, command);
    await expect(lost).rejects.toThrow(SandboxLostError);
    await expect(lost).rejects.toThrow(reason);
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  it('takes a flood of output in its stride', async () => {
    const sandbox = await open('bash');
    const keep = { headBytes: 10, tailBytes: 10 };
    const { omittedBytes } = await runIn(sandbox, 'yes | head -c 300000000', { keep });
    expect(omittedBytes).toBe(299_999_980);
  });

  it('reaps orphans, so that they do not use up the processes it may have', async () => {
    const sandbox = await open('bash', { limits: { network: 'none', pids: 40 } });
    for (let round = 0; round < 5; round += 1) {
      await runIn(sandbox, 'for i in $(seq 15); do (sleep 0.01 &) ; done; sleep 0.3');
    }
    expect((await runIn(sandbox, 'ps -o stat | grep -c "^Z"')).text).toBe('0\n');
  });

  it('is lost, with the reason, when files in memory take all of it', async () => {
    const limits = { network: 'none', memoryBytes: 128 * 1024 * 1024 } as const;
    const sandbox = await open('bash', { limits });
    const fill = async () => {
      await runIn(sandbox, 'head -c 400000000 /dev/zero > /.talaria-io/big');
      // No process holds it: ending commands does not help.
      for (let round = 0; round < 50; round += 1) await runIn(sandbox, 'echo more');
    };
    await expect(fill()).rejects.toThrow(/out of memory, its limit of 134217728/);
  });

  it('has no network unless asked', async () => {
    const none = await open('bash');
    expect((await runIn(none, 'ls /sys/class/net')).text).toBe('lo\n');
    const bridge = await open('bash', { limits: { network: 'bridge' } });
    expect((await runIn(bridge, 'ls /sys/class/net')).text).toContain('eth0');
  });

  it('refuses an image that cannot be had, once and for all, in the words of the daemon', async () => {
    const { provider } = await make('bash');
    const image = '127.0.0.1:1/no/such:image';
    const opened = provider.open({ ...spec, image });
    await expect(opened).rejects.toThrow(ImageUnavailableError);
    await expect(opened).rejects.toThrow(/no\/such:image: the image is not here.*127\.0\.0\.1:1/s);
    for (const wrong of ['Not An Image', '../containers/x', 'Upper/Case']) {
      await expect(provider.open({ ...spec, image: wrong })).rejects.toThrow(ImageUnavailableError);
    }
  });

  it('uses the image as it was when it was checked', async () => {
    const { provider } = await make('bash');
    const reference = 'talaria-test/moving:1';
    const tag = async (from: TestImage) =>
      docker.getImage(await makeImage(docker, from)).tag({ repo: 'talaria-test/moving', tag: '1' });
    await tag('bash');
    const { id } = await provider.images.check(reference);
    await tag('static');
    const sandbox = await provider.open({ ...spec, image: reference });
    expect(id).toMatch(/^sha256:/);
    expect((await runIn(sandbox, 'ls /bin/bash')).text).toBe('/bin/bash\n');
  });

  it('gives up a start that takes too long, and removes what was there', async () => {
    const { provider } = await make('bash', { runName: 'late', startTimeoutMs: 5 });
    await expect(provider.open(spec)).rejects.toThrow(/no sandbox within 0.005 s/);
    await expect.poll(() => containersOf('late'), { timeout: 10_000 }).toEqual([]);
  });

  it('removes containers and their volumes at close', async () => {
    const { provider } = await make('everything', { runName: 'closed' });
    const sandbox = await provider.open(spec);
    const [container] = await containersOf('closed');
    const volumes = container?.Mounts.filter(({ Type }) => Type === 'volume') ?? [];
    expect(volumes).toHaveLength(1);
    await provider.close();
    expect(await containersOf('closed')).toEqual([]);
    await expect(docker.getVolume(volumes[0]?.Name ?? '').inspect()).rejects.toThrow(
      /no such volume/,
    );
    await expect(runIn(sandbox, 'echo hi')).rejects.toThrow(/the sandbox is closed/);
  });

  it('sweeps what dead owners left, and nothing else', async () => {
    const { provider } = await make('bash', { runName: 'swept' });
    await provider.sweep();
    const live = await provider.open(spec);
    const [mine] = await containersOf('swept');
    const labels = mine?.Labels ?? {};
    const dead = labels['talaria.owner']?.replace(/\.(\d+)-$/, '.1-') ?? '';
    const options = { Image: mine?.ImageID ?? '', Cmd: ['true'] };
    await docker.createContainer({ ...options, Labels: { ...labels, 'talaria.owner': dead } });
    const foreign = { ...labels, 'talaria.owner': '1.1.1-', 'talaria.host': 'another' };
    const { id: kept } = await docker.createContainer({ ...options, Labels: foreign });
    await docker.createContainer({
      ...options,
      Labels: { ...foreign, 'talaria.expires': '2020-01-01T00:00:00Z' },
    });
    await provider.sweep();
    const left = (await containersOf('swept')).map(({ Id }) => Id);
    expect(left.sort()).toEqual([mine?.Id, kept].sort());
    expect((await runIn(live, 'echo alive')).text).toBe('alive\n');
    for (const { Id } of await containersOf('swept')) {
      await docker.getContainer(Id).remove({ force: true });
    }
  });

  it('builds the runtime once', async () => {
    expect(await testRuntime(docker)).toMatch(/\.cache\/sandbox-runtime-amd64-[0-9a-f]{16}$/);
  });
});
