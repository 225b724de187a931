import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RunFile } from '../../../src/core/run/manifest.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeImage } from '../../support/docker-images.ts';
import { hasRegistry } from '../../support/image-registry.ts';
import { startModelServer } from '../../support/model-server.ts';
import { text } from '../../support/model-server-replies.ts';
import { useRegistryRuns } from '../../support/registry-runs.ts';
import { expectSound, readJson, readRun } from '../../support/run-files.ts';

const isThere = (await hasDocker()) && hasRegistry();

describe.runIf(isThere)('images of a run', { timeout: 180_000 }, () => {
  const runs = useRegistryRuns();
  const { docker, rehearse } = runs;
  /** Whether the daemon has what this names. */
  const has = (reference: string) =>
    docker
      .getImage(reference.replace(/:[^:/@]+@/, '@'))
      .inspect()
      .then(
        () => true,
        () => false,
      );

  function pinsOf(runName: string): Record<string, string> {
    const { manifest } = readJson<RunFile>(`${runs.workshop.folder(runName)}/run.json`);
    return Object.fromEntries(
      Object.entries(manifest.images).map(([name, { pin }]) => [name, pin]),
    );
  }

  async function finished(stream: NodeJS.ReadableStream): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      docker.modem.followProgress(stream, (error) => (error === null ? resolve() : reject(error)));
    });
  }

  it('are pulled and pinned, and those that cannot be had fail their own prompts only', async () => {
    const good = await runs.registry.push('good', { bytes: 2_000_000 });
    const other = await runs.registry.push('other');
    const foreign = await runs.registry.push('foreign', { architecture: 's390x' });
    const made = await makeImage(docker, 'static');
    const noTag = `${runs.registry.host}/good:none`;
    const noName = `${runs.registry.host}/none`;
    await runs.workshop.dataset([
      { prompt: 'a', image: good.reference },
      { prompt: 'b', image: noTag },
      { prompt: 'c', image: foreign.reference },
      { prompt: 'd', image: other.pin },
      { prompt: 'e', docker_image: noName },
      { prompt: 'f', image: made },
      { prompt: 'g', image: good.reference },
      'h',
    ]);
    const end = await rehearse('all', { json: true });
    expect(end.code).toBe(1);
    expect(JSON.parse(end.stdout)).toMatchObject({ run: 'all' });

    const lines = end.stderr.split('\n');
    expect(lines).toContain(`pulling ${good.reference}`);
    expect(end.stderr).toMatch(/^pulled \S+\/good:1: 1\.9 MiB in \d/m);
    expect(lines.filter((line) => line.includes('/good:1'))).toHaveLength(2);
    expect(lines).toContain(`not pulled: ${noName}`);
    expect(lines.some((line) => line.startsWith("images that can't be had: 3 of 6;"))).toBe(true);

    const { Id: id } = await docker.getImage(made).inspect();
    const { trajectories, failed, runFile } = expectSound(runs.workshop.folder('all'));
    expect(runFile.manifest.images[made]).toEqual({ pin: id, id });
    expect(pinsOf('all')).toEqual({
      [good.reference]: good.pin,
      [other.pin]: other.pin,
      [made]: id,
    });
    const images = trajectories.map(({ metadata }) => metadata.image);
    expect(images.sort()).toEqual(['', good.pin, good.pin, other.pin, id].sort());
    expect(failed.map(({ outcome }) => outcome)).toEqual(Array(3).fill('failed/image_unavailable'));
    const reasons = Object.fromEntries(
      failed.map(({ metadata, reason }) => [metadata.image, reason]),
    );
    expect(reasons[noTag]).toMatch(/good:none: the image is not here, .*: manifest unknown$/);
    expect(reasons[noName]).toMatch(/none: the image is not here, .* manifest unknown$/);
    expect(reasons[foreign.reference]).toMatch(/foreign:1: made for linux\/s390x, and this Docker/);
  });

  it('stay as the run began with them, whatever their tags mean later', async () => {
    const first = await runs.registry.push('moving');
    const row = { prompt: 'a', image: first.reference };
    await runs.workshop.dataset([row]);
    expect(await rehearse('pinned')).toMatchObject({ code: 0 });

    // The tag moves, in the registry and here, and nothing here has the first image any more.
    await docker.getImage(first.reference).remove({ force: true });
    expect(await has(first.pin)).toBe(false);
    const second = await runs.registry.push('moving');
    await docker.pull(second.reference).then(finished);
    expect(await has(second.pin)).toBe(true);
    const fresh = await runs.registry.push('fresh');
    await runs.workshop.dataset([row, row, { prompt: 'b', image: fresh.reference }]);
    const resumed = await rehearse('pinned', { resume: true });
    expect(resumed.code).toBe(0);
    expect(resumed.stderr).toContain(`pulling ${first.pin}\n`);
    expect(resumed.stderr).toMatch(
      /^images whose tag has moved since the run began: 1; .*moving:1/m,
    );
    expect(await has(first.pin)).toBe(true);
    const { trajectories } = expectSound(runs.workshop.folder('pinned'));
    const images = trajectories.map(({ metadata }) => metadata.image);
    expect(images).toEqual([first.pin, first.pin, fresh.pin]);
    expect(pinsOf('pinned')).toEqual({
      [first.reference]: first.pin,
      [fresh.reference]: fresh.pin,
    });

    // No other image is ever taken in its place.
    await docker.getImage(first.pin.replace(':1@', '@')).remove({ force: true });
    await runs.registry.forget(first);
    await runs.workshop.dataset([row, row, row, { prompt: 'c', image: fresh.reference }]);
    expect(await rehearse('pinned', { resume: true })).toMatchObject({ code: 1 });
    const [failed, ...more] = readRun(runs.workshop.folder('pinned')).failed;
    expect(more).toEqual([]);
    expect(failed?.outcome).toBe('failed/image_unavailable');
    expect(failed?.reason).toContain(`the run began with ${first.pin} and takes no other`);
    expect(failed?.reason).toContain('manifest unknown');
    expect(failed?.metadata.image).toBe(first.pin);
  });

  it('are pinned on disk when the model is asked for the first time', async () => {
    const { reference, pin } = await runs.registry.push('early');
    await runs.workshop.dataset([{ prompt: 'a', image: reference }]);
    const pins: object[] = [];
    const server = await startModelServer({
      reply() {
        pins.push(pinsOf('early'));
        return text('Done.');
      },
    });
    const model = { model: 'test/model', base_url: server.baseUrl, api_key: 'test' };
    await rehearse('early', { ...model, keep_without_reasoning: true });
    await server.close();
    expect(pins).toEqual([{ [reference]: pin }]);
  });

  it('are asked for only where prompts are still to be run in them', async () => {
    const here = await runs.registry.push('here');
    const rows = [
      { prompt: 'a', image: here.reference },
      { prompt: 'b', image: 'no/such:image' },
    ];
    await runs.workshop.dataset(rows);
    const first = await rehearse('some', { max_samples: 1 });
    expect(first.code).toBe(0);
    expect(first.stderr).not.toContain('no/such');
    await docker.getImage(here.reference).remove({ force: true });
    const nothing = await rehearse('some', { max_samples: 1, resume: true });
    expect(nothing).toMatchObject({ code: 0 });
    expect(nothing.stderr).not.toMatch(/pull|containers/);
    expect(await has(here.pin)).toBe(false);
  });

  it('are pinned by a resume of a run from before there were pins', async () => {
    const { reference, pin } = await runs.registry.push('old');
    await runs.workshop.dataset(['on this machine']);
    await rehearse('old');
    const path = `${runs.workshop.folder('old')}/run.json`;
    const { images, ...manifest } = readJson<{ manifest: { images: object } }>(path).manifest;
    expect(images).toEqual({});
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), manifest }));
    await runs.workshop.dataset(['on this machine', { prompt: 'a', image: reference }]);
    expect(await rehearse('old', { resume: true })).toMatchObject({ code: 0 });
    expect(pinsOf('old')).toEqual({ [reference]: pin });
  });
});
