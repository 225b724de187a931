import type Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DockerSandboxDeps } from '../../../src/adapters/sandbox/docker/docker-sandbox.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import type { TestImage } from '../../support/docker-images.ts';
import { makeDockerProvider } from '../../support/docker-sandboxes.ts';
import { runIn } from '../../support/sandbox-run.ts';
import { describeSandbox } from './sandbox-contract.ts';

const isThere = await hasDocker();
const spec = { promptId: 'p', image: '', cwd: '' };

describe.runIf(isThere)('docker', { timeout: 120_000 }, () => {
  describeSandbox('docker, image with bash', () => makeDockerProvider('bash'));
  describeSandbox('docker, image with ash', () => makeDockerProvider('busybox'));
  describeSandbox('docker, image of one static file', () => makeDockerProvider('static'));
});

describe.runIf(isThere)('docker sandbox, images', { timeout: 60_000 }, () => {
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
  const IMAGES: [TestImage, string, boolean][] = [
    ['busybox', '0', false],
    ['busybox', '0', true],
    ['static', '0', false],
    ['static', '0', true],
    ['user', '1234', false],
    ['user', '1234', true],
    ['unnamed-user', '4321', false],
    ['unnamed-user', '4321', true],
    ['everything', '0', false],
    ['everything', '0', true],
  ];
  it.each(IMAGES)(
    'works in %s as user %s, read-only root: %s',
    async (image, uid, readOnlyRoot) => {
      const sandbox = await open(image, { limits: { network: 'none', readOnlyRoot } });
      expect((await runIn(sandbox, 'id -u; cd; echo hi > a; cat a | tr h b')).text).toBe(
        `${uid}\nbi\n`,
      );
      await sandbox.writeFile('~/b/c', Buffer.from('there'));
      expect((await runIn(sandbox, 'cat ~/b/c')).text).toBe('there');
      expect((await sandbox.readFile('~/a', 10)).size).toBe(3);
      const { id } = await sandbox.startProcess({ command: 'read -r line; echo "got $line"' });
      await sandbox.writeToProcess(id, Buffer.from('it\n'));
      await sandbox.waitForProcess(id, { timeoutMs: 5_000 });
      expect(Buffer.from((await sandbox.processOutput(id, 100)).bytes).toString()).toBe('got it\n');
      expect((await runIn(sandbox, 'echo x > "$TMPDIR/x" && rm "$TMPDIR/x"')).exitCode).toBe(0);
      await sandbox.close();
    },
  );

  it("keeps the image's own folder, environment and volume, and hides its secrets", async () => {
    const sandbox = await open('everything');
    const { text } = await runIn(
      sandbox,
      'pwd; echo "$APP_MODE $NODE_OPTIONS $LD_PRELOAD [$SOME_API_KEY]"; cat data/file; tr "\\0" "\\n" < /proc/1/environ',
    );
    expect(text).toMatch(/^\/app\ntest --require=\/no\/such \/no\/such\.so \[\]\nthere\n/);
    expect(text).not.toContain('sk-secret');
  });

  it.each([
    ['everything', 'sub/folder', '/app/sub/folder'],
    ['everything', '/else/where', '/else/where'],
    ['busybox', 'sub/folder', '/root/sub/folder'],
    ['static', '/else/where', '/else/where'],
  ] as const)('starts %s with cwd %s in %s', async (image, cwd, expected) => {
    expect((await runIn(await open(image, {}, cwd), 'pwd')).text).toBe(`${expected}\n`);
  });

  it.each([
    ['/proc/none/here', /ENOENT.*\/proc\/none/],
    ['/bin/busybox', /\/bin\/busybox is no folder/],
  ])('says at once that there can be no folder %s', async (cwd, words) => {
    const { provider } = await make('busybox', { runName: 'no-folder' });
    const opened = provider.open({ ...spec, cwd });
    await expect(opened).rejects.toThrow(words);
    await expect(opened).rejects.toMatchObject({ name: 'SandboxLostError' });
    const sandbox = await provider.open(spec);
    const written = sandbox.writeFile(`${cwd}/file`, Buffer.from('x'));
    await expect(written).rejects.toThrow();
    await sandbox.close();
  });

  it('writes nothing into the image outside its own folders', async () => {
    const sandbox = await open('static', { runName: 'changes' });
    const filters = { label: ['talaria.run=changes'] };
    const [container] = await docker.listContainers({ filters });
    const changes = await docker.getContainer(container?.Id ?? '').changes();
    const paths = (changes ?? []).map(({ Path }: { Path: string }) => Path);
    expect(paths.sort()).toEqual(['/.talaria', '/.talaria-io', '/workspace']);
    await sandbox.close();
  });
});
