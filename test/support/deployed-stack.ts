import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { type Emulator, startEmulator } from './emulator.ts';

const CDK = join(process.cwd(), 'node_modules/aws-cdk/bin/cdk');
const run = promisify(execFile);

const outputsSchema = z.object({
  BucketName: z.string(),
  TableName: z.string(),
  QueueUrl: z.string(),
  DeadLetterQueueUrl: z.string(),
  FailedEventsQueueUrl: z.string(),
  ClusterArn: z.string(),
  TaskLogGroup: z.string(),
  ModelKeysArn: z.string(),
  StarterName: z.string(),
  DispatcherName: z.string(),
  MergeName: z.string(),
});

export interface DeployedStack {
  emulator: Emulator;
  outputs: z.infer<typeof outputsSchema>;
  /** What the command line of the CDK said while it deployed. */
  log: string;
  /** By `cdk destroy`. */
  destroy(): Promise<void>;
  /** Ends the emulator, and with it whatever is deployed. */
  stop(): Promise<void>;
}

/**
 * The stack, deployed by the CDK's own command line to an emulator of its own: some 20 s. `settings` are
 * those of cdk.json, as text; nothing is built, so both images have to be named. With `canRunTasks` the
 * worker image has to be there, and tasks run.
 */
export async function deployStack(
  settings: Record<string, string> & { workerImage: string; defaultImage: string },
  { canRunTasks = false } = {},
): Promise<DeployedStack> {
  const emulator = await startEmulator();
  const folder = await mkdtemp(join(tmpdir(), 'talaria-stack-'));
  const stop = async () => {
    await emulator.stop();
    if (canRunTasks) await clearTasks(folder, settings.workerImage);
    await rm(folder, { recursive: true, force: true });
  };
  const all = {
    platform: 'emulator',
    removalPolicy: 'destroy',
    emulatorFolder: folder,
    ...settings,
  };
  const context = Object.entries(all).flatMap(([key, value]) => ['--context', `${key}=${value}`]);

  async function cdk(cwd: string, ...commandLine: string[]): Promise<string> {
    // biome-ignore lint/style/noProcessEnv: PATH and the like
    const env = { ...process.env, ...emulator.env, ...QUIET };
    const { stdout, stderr } = await run(process.execPath, [CDK, ...commandLine, '--no-notices'], {
      cwd,
      env,
    });
    return stdout + stderr;
  }
  const assembly = join(folder, 'cdk.out');

  try {
    if (canRunTasks) await run('tools/fill-emulator-folder.sh', [settings.workerImage, folder]);
    // Away from cdk.json: with an app it would synthesise that first.
    await cdk(folder, 'bootstrap', 'aws://000000000000/us-east-1');
    const file = join(folder, 'outputs.json');
    const deploy = ['deploy', '--require-approval', 'never', '--outputs-file', file];
    const log = await cdk(process.cwd(), ...deploy, '--output', assembly, ...context);
    const [outputs] = Object.values(
      outputsOfStacks.parse(JSON.parse(await readFile(file, 'utf8'))),
    );
    if (outputs === undefined) throw new Error(`the deployment has no outputs:\n${log}`);
    const destroy = async () =>
      void (await cdk(process.cwd(), 'destroy', '--force', '--app', assembly));
    return { emulator, outputs, log, destroy, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Ends tasks that outlive their emulator; what containers wrote may be root's. */
async function clearTasks(folder: string, image: string): Promise<void> {
  const { stdout } = await run('docker', ['ps', '-aq', '--filter', 'name=ministack-ecs-']);
  const ids = stdout.split('\n').filter((id) => id !== '');
  const format = '{{.Id}}{{range .Mounts}} {{.Source}}{{end}}';
  // Others' may go meanwhile: that is an error, after what is said of those that are there.
  const inspected = await run('docker', ['inspect', '--format', format, ...ids]).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  const own = inspected.stdout.split('\n').filter((line) => line.includes(` ${folder}/`));
  const containers = own.map((line) => line.slice(0, line.indexOf(' ')));
  if (containers.length > 0) await run('docker', ['rm', '-f', '-v', ...containers]);
  const at = ['run', '--rm', '--volume', `${folder}:/folder`, '--entrypoint', '/runtime/busybox'];
  await run('docker', [...at, image, 'rm', '-rf', '/folder/launches', '/folder/runtime']);
}

const outputsOfStacks = z.record(z.string(), outputsSchema);

/** No questions to anyone, and none to hosts elsewhere. */
const QUIET = {
  CI: 'true',
  CDK_DISABLE_CLI_TELEMETRY: 'true',
  CDK_DISABLE_VERSION_CHECK: 'true',
};
