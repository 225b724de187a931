import type Docker from 'dockerode';
import { runtimeBases } from './docker-images.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const REFERENCE = 'talaria-test/worker:latest';

/** What the Dockerfile copies: dockerode takes no folders where a .dockerignore has exceptions. */
const FILES = [
  'containers/worker/Dockerfile',
  'containers/worker/entry.sh',
  'containers/sandbox/make-runtime.sh',
  'containers/sandbox/entry.sh',
  'dist/worker.mjs',
  'dist/sandbox-daemon.mjs',
];

/** The worker image by its own Dockerfile, of the bundles in dist; gives its reference. */
export async function makeWorkerImage(docker: Docker): Promise<string> {
  const output = await docker.buildImage(
    { context: ROOT, src: FILES },
    {
      dockerfile: 'containers/worker/Dockerfile',
      target: 'worker',
      t: REFERENCE,
      forcerm: true,
      buildargs: await runtimeBases(docker),
    },
  );
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(output, (error) => (error === null ? resolve() : reject(error)));
  });
  return REFERENCE;
}
