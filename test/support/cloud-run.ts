import { S3Client } from '@aws-sdk/client-s3';
import Docker from 'dockerode';
import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import type { Bucket } from '../../src/adapters/aws/bucket.ts';
import { RUN_STATES } from '../../src/core/cloud/run-record.ts';
import { type DeployedStack, deployStack } from './deployed-stack.ts';
import { makeImage } from './docker-images.ts';
import { emulatorLogs } from './emulator-logs.ts';
import { type CommandEnd, type CommandOptions, useCommandFolder } from './talaria-command.ts';
import { makeWorkerImage } from './worker-image.ts';

const SETUP_MS = 600_000;
/** A call of the command line costs half a second of a processor. */
const POLL_MS = 2_000;
const ENDED_MS = 300_000;

const statusSchema = z.object({
  state: z.enum(RUN_STATES).nullable(),
  reason: z.string(),
  pass: z.int().nullable(),
  batches: z.record(z.string(), z.int()).nullable(),
  refused: z.object({ error: z.string(), pass: z.int() }).nullable(),
  statistics: z.record(z.string(), z.unknown()).nullable(),
});
export type CloudStatus = z.infer<typeof statusSchema>;

export type Rows = readonly (string | Record<string, unknown>)[];

/** A stack on an emulator with real tasks, and the built command line that knows it. */
export interface Cloud {
  readonly stack: DeployedStack;
  readonly bucket: Bucket;
  /** In `data`, where runs are downloaded to. */
  folder(run: string): string;
  /** Any command, with AWS' variables of the emulator and, where it takes one, `--stack`. */
  talaria(words: readonly string[], options?: CommandOptions): Promise<CommandEnd>;
  /** A command that knows of no cloud, in the same folder. */
  local(words: readonly string[], env?: Record<string, string>): Promise<CommandEnd>;
  /** Writes a dataset; texts are lines as they are. */
  dataset(name: string, rows: Rows): Promise<void>;
  write(name: string, content: string): Promise<void>;
  /** Stores the key of a model's host. */
  setKey(host: string, key: string): Promise<void>;
  /** Submits `<run>.jsonl` of these rows; fails where the command does. */
  submit(run: string, rows: Rows, ...flags: string[]): Promise<CommandEnd>;
  /** The status when the run, in this pass or a later one, is in one of these states. */
  until(
    run: string,
    states: readonly (typeof RUN_STATES)[number][],
    pass?: number,
  ): Promise<CloudStatus>;
  /** Downloads a run; resolves to its folder. */
  download(run: string): Promise<string>;
  /** All that functions and tasks have logged so far. */
  logs(): Promise<string>;
}

/** A stack for the tests of a file; rows without image run in `talaria-test/bash`. */
export function useCloud(stackName: string): Cloud {
  const files = useCommandFolder();
  let stack: DeployedStack;
  let bucket: Bucket;
  beforeAll(async () => {
    const docker = new Docker();
    const workerImage = await makeWorkerImage(docker);
    const defaultImage = await makeImage(docker, 'bash');
    stack = await deployStack({ stackName, workerImage, defaultImage }, { canRunTasks: true });
    const { endpoint } = stack.emulator;
    bucket = {
      client: new S3Client({
        endpoint,
        region: 'us-east-1',
        credentials: CREDENTIALS,
        forcePathStyle: true,
      }),
      name: stack.outputs.BucketName,
    };
  }, SETUP_MS);
  afterAll(() => stack?.stop(), SETUP_MS);

  const talaria: Cloud['talaria'] = (words, { env, ...options } = {}) =>
    files.talaria([...words, `--stack=${stackName}`], {
      ...options,
      env: { ...stack.emulator.env, ...env },
    });

  async function status(run: string): Promise<CloudStatus | undefined> {
    const end = await talaria(['status', run, '--json']);
    // Its upload's event has not come yet.
    if (end.code === 2) return undefined;
    return statusSchema.parse(JSON.parse(end.stdout));
  }

  return {
    get stack() {
      return stack;
    },
    get bucket() {
      return bucket;
    },
    folder: (run) => files.at('data', run),
    talaria,
    local: (words, env = {}) => files.talaria(words, { env }),
    dataset: (name, rows) => files.write(name, rows.map(lineOf).join('')),
    write: files.write,
    async setKey(host, key) {
      const end = await talaria(['secrets', 'set', host], { stdin: key });
      expect(end, end.stderr).toMatchObject({ code: 0 });
    },
    async submit(run, rows, ...flags) {
      const file = `${run}.jsonl`;
      await files.write(file, rows.map(lineOf).join(''));
      const end = await talaria([
        'submit',
        `--dataset_file=${file}`,
        `--run_name=${run}`,
        ...flags,
      ]);
      expect(end, end.stderr).toMatchObject({ code: 0 });
      return end;
    },
    async until(run, states, pass = 1) {
      const from = performance.now();
      let seen: CloudStatus | undefined;
      while (performance.now() - from < ENDED_MS) {
        seen = await status(run);
        const { state, pass: at } = seen ?? {};
        if (state && states.includes(state) && (at ?? 0) >= pass) return seen as CloudStatus;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      const log = await emulatorLogs(stack.emulator.endpoint, { last: 40 });
      throw new Error(`${run} did not come to be ${states}: ${JSON.stringify(seen)}\n${log}`);
    },
    async download(run) {
      const end = await talaria(['download', run]);
      expect(end, end.stderr).toMatchObject({ code: 0 });
      return files.at('data', run);
    },
    logs: () => emulatorLogs(stack.emulator.endpoint),
  };
}

const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' };

function lineOf(row: string | Record<string, unknown>): string {
  return `${typeof row === 'string' ? row : JSON.stringify(row)}\n`;
}
