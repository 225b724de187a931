import { randomUUID } from 'node:crypto';
import Docker from 'dockerode';
import { afterAll, beforeAll } from 'vitest';
import { runWorker, type WorkerDeps, type WorkerEnd } from '../../containers/worker/run-worker.ts';
import { createBatchWork } from '../../src/adapters/aws/batch-work.ts';
import { createBucketWorkerObjects } from '../../src/adapters/aws/bucket-worker-objects.ts';
import { systemClock } from '../../src/adapters/local/system-clock.ts';
import type { BatchWork } from '../../src/core/ports/batch-work.ts';
import type { WorkerObjects } from '../../src/core/ports/worker-objects.ts';
import type { Trajectory } from '../../src/core/trajectory/trajectory.ts';
import { type CloudBatch, planBatch, sha256Hex } from './cloud-batch.ts';
import { type CloudResources, makeCloudResources } from './cloud-resources.ts';
import { makeImage } from './docker-images.ts';
import { type Emulator, startEmulator } from './emulator.ts';
import { type SocketDaemons, startSocketDaemons } from './socket-daemons.ts';
import { removeWorkerBundle, startWorker, type WorkerProcess } from './worker-process.ts';

export interface InProcessWorker {
  end: Promise<WorkerEnd>;
  /** As SIGTERM does. */
  tellToStop(): void;
  logged: { message: string; fields: Record<string, unknown> }[];
}

export interface WorkerHarness {
  docker: Docker;
  resources(): CloudResources;
  emulator(): Emulator;
  plan(of: Parameters<typeof planBatch>[1]): Promise<CloudBatch>;
  daemons(count: number): Promise<SocketDaemons>;
  /** The worker as a process of its own; `endpoint` in place of the emulator's. */
  start(
    of: CloudBatch,
    launch: number,
    daemons: SocketDaemons,
    endpoint?: string,
  ): Promise<WorkerProcess>;
  /** The same code in this process, where its time and its task can be set. */
  run(
    of: CloudBatch,
    launch: number,
    sockets: readonly string[],
    changes?: Partial<WorkerDeps>,
  ): InProcessWorker;
  work(of: CloudBatch, launch: number): BatchWork;
  objects(of: CloudBatch): WorkerObjects;
  /** Rows of the ends of all prompts, by position, without what differs from run to run. */
  rows(of: CloudBatch): Promise<unknown[]>;
}

/** An emulator for the tests of a file, with table and bucket, and what workers need beside it. */
export function useWorkers(name: string): WorkerHarness {
  const docker = new Docker();
  const started: SocketDaemons[] = [];
  let emulator: Emulator;
  let resources: CloudResources;
  let image: string;

  beforeAll(async () => {
    emulator = await startEmulator();
    resources = await makeCloudResources(emulator.endpoint, name);
    image = await makeImage(docker, 'bash');
  }, 120_000);
  afterAll(async () => {
    for (const daemons of started) await daemons.dispose();
    await emulator?.stop();
    await removeWorkerBundle();
  });

  const objects = ({ run }: CloudBatch) =>
    createBucketWorkerObjects(resources.bucket, run, sha256Hex);
  const work = ({ run, batch }: CloudBatch, launch: number) =>
    createBatchWork({
      table: resources.table,
      clock: systemClock,
      run,
      batch,
      launch,
      uniqueId: randomUUID,
    });

  return {
    docker,
    resources: () => resources,
    emulator: () => emulator,
    plan: (of) => planBatch(resources, of),
    async daemons(count) {
      const made = await startSocketDaemons(docker, image, count);
      started.push(made);
      return made;
    },
    start: (of, launch, { folder, sockets }, endpoint = emulator.endpoint) =>
      startWorker({
        ...emulator.env,
        AWS_ENDPOINT_URL: endpoint,
        AWS_ENDPOINT_URL_S3: endpoint,
        TABLE_NAME: resources.table.name,
        BUCKET_NAME: resources.bucket.name,
        RUN_NAME: of.run,
        BATCH: String(of.batch),
        LAUNCH: String(launch),
        SANDBOXES: String(sockets.length),
        SOCKET_FOLDER: folder,
        MODEL_KEYS: '{}',
      }),
    run(of, launch, sockets, changes = {}) {
      const logged: InProcessWorker['logged'] = [];
      let tellToStop: () => void = () => undefined;
      const end = runWorker({
        work: work(of, launch),
        objects: objects(of),
        clock: systemClock,
        launch,
        sockets,
        image: undefined,
        concurrency: 1,
        modelKeys: '{}',
        secrets: [],
        sha256Hex,
        random: Math.random,
        freeDisk: () => Number.POSITIVE_INFINITY,
        onStopSignal(callback) {
          tellToStop = callback;
        },
        log: (message, fields = {}) => logged.push({ message, fields }),
        ...changes,
        timing: { connectMs: 20_000, renewMs: 30_000, graceMs: 80_000, ...changes.timing },
      });
      return { end, logged, tellToStop: () => tellToStop() };
    },
    work,
    objects,
    async rows(of) {
      const attempts = await work(of, 0).attempts();
      const ended = await of.ended();
      return Promise.all(
        ended.map(async (_, position) => {
          const last = attempts.filter((attempt) => attempt.position === position).at(-1);
          if (last === undefined || last.sample_key === '') return undefined;
          const sample = { position, launch: last.launch };
          const { row } = await objects(of).sample(of.batch, sample);
          return withoutTimes(row);
        }),
      );
    },
  };
}

function withoutTimes({ timing, metadata, ...row }: Trajectory): unknown {
  const { timestamp: _, run_name: __, ...kept } = metadata;
  return { ...row, metadata: kept, attempt: timing.attempt };
}
