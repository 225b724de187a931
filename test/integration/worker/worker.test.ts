import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBucketWorkerObjects } from '../../../src/adapters/aws/bucket-worker-objects.ts';
import { type CloudBatch, planBatch, sha256Hex } from '../../support/cloud-batch.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { hasDocker } from '../../support/docker-daemon.ts';
import { makeImage } from '../../support/docker-images.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { type SocketDaemons, startSocketDaemons } from '../../support/socket-daemons.ts';
import { startWorker } from '../../support/worker-process.ts';

const canRun = hasEmulator() && (await hasDocker());

describe.runIf(canRun)('the worker', { timeout: 120_000 }, () => {
  const docker = new Docker();
  let emulator: Emulator;
  let resources: CloudResources;
  let image: string;
  const started: SocketDaemons[] = [];

  beforeAll(async () => {
    emulator = await startEmulator();
    resources = await makeCloudResources(emulator.endpoint, 'worker');
    image = await makeImage(docker, 'bash');
  }, 120_000);
  afterAll(async () => {
    for (const daemons of started) await daemons.dispose();
    await emulator.stop();
  });

  async function daemons(count: number) {
    const made = await startSocketDaemons(docker, image, count);
    started.push(made);
    return made;
  }

  function worker(of: CloudBatch, launch: number, { folder, sockets }: SocketDaemons) {
    return startWorker({
      ...emulator.env,
      TABLE_NAME: resources.table.name,
      BUCKET_NAME: resources.bucket.name,
      RUN_NAME: of.run,
      BATCH: String(of.batch),
      LAUNCH: String(launch),
      SANDBOXES: String(sockets.length),
      SOCKET_FOLDER: folder,
      MODEL_KEYS: '{}',
    });
  }

  const ROWS = [{ prompt: 'one' }, { prompt: 'two', cwd: '/tmp/x' }, { prompt: 'three' }];

  it('runs a batch, prompt by prompt, and closes it', async () => {
    const batch = await planBatch(resources, { run: 'plain', rows: ROWS });
    await batch.launch(1);
    const process = await worker(batch, 1, await daemons(4));
    expect(await process.ended).toBe(0);
    expect(await batch.record()).toMatchObject({ state: 'closed', remaining: 0, starts: {} });
    const ended = await batch.ended();
    expect(ended.map((item) => item?.['outcome'])).toEqual(['completed', 'completed', 'completed']);
    const objects = createBucketWorkerObjects(resources.bucket, batch.run, sha256Hex);
    const { row } = await objects.sample(0, { position: 1, launch: 1 });
    expect(row.conversations.at(0)?.value).toBe('two');
  });
});
