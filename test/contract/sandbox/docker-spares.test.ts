import type Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SpareSettings } from '../../../src/adapters/sandbox/docker/docker-sandbox.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import type { TestImage } from '../../support/docker-images.ts';
import { makeDockerProvider } from '../../support/docker-sandboxes.ts';
import { runIn } from '../../support/sandbox-run.ts';

const isThere = await hasDocker();

describe.runIf(isThere)('docker sandboxes started ahead', { timeout: 60_000 }, () => {
  const disposers: (() => Promise<void>)[] = [];
  let docker: Docker;
  beforeAll(async () => {
    ({ docker } = await make('none'));
  }, 120_000);
  afterAll(async () => {
    for (const dispose of disposers) await dispose();
  });
  async function make(
    runName: string,
    spares: Partial<SpareSettings> = {},
    image: TestImage = 'bash',
  ) {
    const settings = {
      most: 2,
      startsAtOnce: 2,
      hasRoom: () => true,
      signal: new AbortController().signal,
      ...spares,
    };
    const made = await makeDockerProvider(image, { runName, spares: settings });
    disposers.push(made.dispose);
    return made;
  }
  const spec = (promptId: string, image = '') => ({ promptId, image, cwd: '' });
  const all = (runName: string) =>
    docker.listContainers({ all: true, filters: { label: [`talaria.run=${runName}`] } });
  /** Ids of those that run and belong to nobody. */
  const spares = async (runName: string) =>
    (await all(runName))
      .filter(({ Names, State }) => Names[0]?.includes('-spare-') && State === 'running')
      .map(({ Id }) => Id);
  const startedSpares = (runName: string, count: number) =>
    expect.poll(() => spares(runName), { timeout: 30_000 }).toHaveLength(count);

  it('wait for their prompts, no more than may, each for one prompt only', async () => {
    const { provider } = await make('spares');
    for (const id of ['a', 'b', 'c', 'd']) provider.expect(spec(id));
    await startedSpares('spares', 2);
    const ready = await spares('spares');
    const opened = await Promise.all(['a', 'b', 'c'].map((id) => provider.open(spec(id))));
    for (const [at, sandbox] of opened.entries()) await runIn(sandbox, `echo ${at} >> ~/mine`);
    for (const [at, sandbox] of opened.entries()) {
      expect((await runIn(sandbox, 'cat ~/mine')).text).toBe(`${at}\n`);
    }
    const used = (await all('spares')).filter(({ Names }) => !Names[0]?.includes('-spare-'));
    expect(used).toHaveLength(3);
    expect(used.map(({ Id }) => Id)).toEqual(expect.arrayContaining(ready));
    // The last that is expected.
    await startedSpares('spares', 1);
    await provider.close();
    expect(await all('spares')).toEqual([]);
  });

  it('begin in the folder, and under the name, of the prompt that takes them', async () => {
    const { provider } = await make('placed');
    provider.expect(spec('p-0'));
    await startedSpares('placed', 1);
    const [ready] = await spares('placed');
    const sandbox = await provider.open({ ...spec('p-0'), cwd: '/made/for/it' });
    const { text } = await runIn(sandbox, 'pwd; echo "$TALARIA_SANDBOX"');
    expect(text).toMatch(/^\/made\/for\/it\ntalaria-placed-p-0-[0-9a-f]{12}\n$/);
    const name = `/${text.split('\n')[1]}`;
    await expect
      .poll(async () => (await all('placed')).map(({ Id, Names }) => [Id, Names[0]]))
      .toEqual([[ready, name]]);
    await sandbox.close();
  });

  it('are replaced when they die, and die without harm to a prompt', async () => {
    const { provider } = await make('dying', { most: 1 });
    provider.expect(spec('a'));
    await startedSpares('dying', 1);
    const [first = ''] = await spares('dying');
    await docker.getContainer(first).kill();
    await expect
      .poll(() => spares('dying'), { timeout: 30_000 })
      .toEqual([expect.not.stringMatching(first)]);
    const [second = ''] = await spares('dying');
    await docker.getContainer(second).kill();
    // Its end may not be known here yet.
    const sandbox = await provider.open(spec('a'));
    expect((await runIn(sandbox, 'echo alive')).text).toBe('alive\n');
    await provider.close();
    expect(await all('dying')).toEqual([]);
  });

  it('are not started of an image that cannot be had, nor where there is no room', async () => {
    const { provider } = await make('missing');
    const image = '127.0.0.1:1/no/such:image';
    for (const id of ['a', 'b', 'c']) provider.expect(spec(id, image));
    await expect(provider.open(spec('a', image))).rejects.toThrow(/no\/such:image/);
    expect(await all('missing')).toEqual([]);
    const full = await make('full', { hasRoom: () => false });
    full.provider.expect(spec('a'));
    const sandbox = await full.provider.open(spec('a'));
    expect(await all('full')).toHaveLength(1);
    await sandbox.close();
  });

  it('are removed when the run stops, while its prompts go on', async () => {
    const stop = new AbortController();
    const { provider } = await make('stopped', { signal: stop.signal });
    const open = await provider.open(spec('before'));
    for (const id of ['a', 'b', 'c']) provider.expect(spec(id));
    await startedSpares('stopped', 2);
    stop.abort();
    await expect.poll(() => all('stopped'), { timeout: 30_000 }).toHaveLength(1);
    expect((await runIn(open, 'echo alive')).text).toBe('alive\n');
    provider.expect(spec('d'));
    await open.close();
    expect(await all('stopped')).toEqual([]);
  });
});
