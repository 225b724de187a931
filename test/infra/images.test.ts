import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { talariaApp } from './synthesise.ts';

const assetsSchema = z.object({
  dockerImages: z.record(
    z.string(),
    z.object({
      source: z.object({
        dockerFile: z.string(),
        dockerBuildTarget: z.string(),
        platform: z.string(),
      }),
    }),
  ),
});

/** What a deployment has Docker build; synthesis reads files only. */
function built(settings: Record<string, string>) {
  const { directory } = talariaApp(settings).app.synth();
  const assets = JSON.parse(readFileSync(join(directory, 'Talaria.assets.json'), 'utf8'));
  return Object.values(assetsSchema.parse(assets).dockerImages).map(({ source }) => source);
}

test('images that are not named are built from the worker’s Dockerfile, for amd64', () => {
  const source = { dockerFile: 'containers/worker/Dockerfile', platform: 'linux/amd64' };
  expect(built({ workerImage: 'build', defaultImage: 'build' })).toEqual(
    expect.arrayContaining([
      { ...source, dockerBuildTarget: 'worker' },
      { ...source, dockerBuildTarget: 'default-image' },
    ]),
  );
});

test('images that are named are not built', () => {
  expect(built({ workerImage: 'registry.test/a', defaultImage: 'registry.test/b' })).toEqual([]);
});
