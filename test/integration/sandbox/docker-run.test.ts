import { readFile } from 'node:fs/promises';
import Docker from 'dockerode';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeImage, runtimeBases } from '../../support/docker-images.ts';
import { rehearsal, useCommandFolder } from '../../support/talaria-command.ts';

const CACHE = new URL('../../../.cache/', import.meta.url).pathname;
const isThere = await hasDocker();

describe('a run with rows of images, and no Docker daemon', () => {
  const folder = useCommandFolder();

  it('is refused before anything is paid for, and leaves nothing', async () => {
    await folder.write(
      'prompts.jsonl',
      '{"prompt":"a","image":"debian:12"}\n{"prompt":"b","docker_image":"x"}\n{"prompt":"c"}\n',
    );
    const env = { DOCKER_HOST: 'tcp://127.0.0.1:1' };
    const { code, stderr } = await folder.talaria(rehearsal('none'), { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /containers: 2, the first of debian:12; but no Docker daemon answers: .*DOCKER_HOST/s,
    );
    await expect(readFile(folder.at('data', 'none', 'run.json'))).rejects.toThrow(/ENOENT/);
  });

  it.each([
    [['--sandbox=docker'], /--sandbox docker: rows that name no image: 1; --default_image/],
    [['--default_image=debian:12'], /--default_image has no effect without --sandbox docker/],
  ])('says which flag is missing beside %j', async (flags, message) => {
    await folder.write('prompts.jsonl', '{"prompt":"b"}\n');
    const { code, stderr } = await folder.talaria(rehearsal('none', ...flags));
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

describe.runIf(isThere)('a run in containers', { timeout: 180_000 }, () => {
  const folder = useCommandFolder();
  const docker = new Docker();
  let env: Record<string, string>;
  let bash: string;
  let plain: string;
  beforeAll(async () => {
    const bases = await runtimeBases(docker);
    bash = await makeImage(docker, 'bash');
    plain = await makeImage(docker, 'static');
    env = {
      XDG_CACHE_HOME: CACHE,
      TALARIA_NODE_IMAGE: bases['NODE_IMAGE'] ?? '',
      TALARIA_BUSYBOX_IMAGE: bases['BUSYBOX_IMAGE'] ?? '',
    };
  }, 120_000);
  const rowsOf = async (run: string, file: string) => {
    const text = await readFile(folder.at('data', run, file), 'utf8');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  };
  const left = (run: string) =>
    docker.listContainers({ all: true, filters: { label: [`talaria.run=${run}`] } });

  it('takes rows with and without image, and fails those whose image cannot be had', async () => {
    const rows = [
      { prompt: 'in bash', image: bash, cwd: '/made/here' },
      { prompt: 'in a static image', docker_image: plain },
      { prompt: 'on this machine' },
      { prompt: 'nowhere', image: '127.0.0.1:1/no/such:image' },
    ];
    await folder.write('prompts.jsonl', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const { code, stderr } = await folder.talaria(rehearsal('mixed'), { env });
    expect(stderr).not.toContain('Error');
    expect(stderr).toMatch(/images that can't be had: 1 of 3; .*\n.*127\.0\.0\.1:1/);
    expect(code).toBe(1);
    const kept = await rowsOf('mixed', 'trajectories.jsonl');
    const inspected = await Promise.all([bash, plain].map((of) => docker.getImage(of).inspect()));
    const ids = inspected.map(({ Id }) => Id);
    expect(kept.map(({ metadata }) => metadata.image).sort()).toEqual(['', ...ids].sort());
    const [failed] = await rowsOf('mixed', 'failed.jsonl');
    expect(failed).toMatchObject({ outcome: 'failed/image_unavailable', api_calls: 0 });
    expect(failed.reason).toContain('127.0.0.1:1');
    expect(await left('mixed')).toEqual([]);
  });

  it('puts all rows into containers with --sandbox docker, and resumes so only', async () => {
    await folder.write('prompts.jsonl', '{"prompt":"one"}\n{"prompt":"two"}\n');
    const flags = ['--sandbox=docker', `--default_image=${plain}`, '--sandbox_network=none'];
    const { code, stderr } = await folder.talaria(rehearsal('all', ...flags), { env });
    expect(stderr).toContain('docker: a fresh container for each prompt');
    expect(code).toBe(0);
    expect(await rowsOf('all', 'trajectories.jsonl')).toHaveLength(2);
    const run = JSON.parse(await readFile(folder.at('data', 'all', 'run.json'), 'utf8'));
    expect(run).toMatchObject({ sandbox: 'docker', manifest: { sandbox: 'docker' } });
    const resume = rehearsal('all', '--resume', '--sandbox=process');
    expect((await folder.talaria(resume, { env })).stderr).toMatch(/can't change within a run/);
    expect(await left('all')).toEqual([]);
  });
});
