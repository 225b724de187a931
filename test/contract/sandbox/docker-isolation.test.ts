import type Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DockerSandboxDeps } from '../../../src/adapters/sandbox/docker/docker-sandbox.ts';
import { type Sandbox, SandboxLostError } from '../../../src/core/ports/sandbox.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeDockerProvider } from '../../support/docker-sandboxes.ts';
import { runIn } from '../../support/sandbox-run.ts';

const isThere = await hasDocker();
const spec = { promptId: 'p', image: '', cwd: '' };
const MIB = 1024 * 1024;

describe.runIf(isThere)('two sandboxes of one image', { timeout: 60_000 }, () => {
  const disposers: (() => Promise<void>)[] = [];
  let docker: Docker;
  beforeAll(async () => {
    ({ docker } = await make());
  }, 120_000);
  afterAll(async () => {
    for (const dispose of disposers) await dispose();
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
});
