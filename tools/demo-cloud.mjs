// The cloud on one machine, without an account: an emulator, cdk deploy, an upload, tasks in containers,
// the files back. Needs Docker and python3. Usage: npm run demo:cloud [-- --keep]
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: {
    dataset: { type: 'string', default: 'examples/prompts.jsonl' },
    run: { type: 'string', default: 'demo' },
    output_dir: { type: 'string', default: 'data' },
    /** Leaves the emulator and the stack up until Ctrl-C. */
    keep: { type: 'boolean', default: false },
  },
});
const root = resolve(import.meta.dirname, '..');
const STACK = 'talaria-demo';
const WORKER = 'talaria-demo/worker:latest';
const READY_MS = 60_000;
// Where no registry is within reach, these name images that are here.
// biome-ignore lint/style/noProcessEnv: a script's wiring
const environ = process.env;
const {
  TALARIA_NODE_IMAGE: nodeImage,
  TALARIA_BUSYBOX_IMAGE: busyboxImage,
  TALARIA_DEFAULT_IMAGE: defaultImage = 'debian:bookworm-slim',
} = environ;

const began = performance.now();
let emulator;
let port = 0;
const folder = mkdtempSync(join(tmpdir(), 'talaria-demo-'));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(130));

try {
  await demo();
  if (flags.keep) await untilStopped();
  end(0);
} catch (error) {
  process.stderr.write(`demo:cloud: ${error.message}\n`);
  end(1);
}

async function demo() {
  if (spawnSync('docker', ['version'], { stdio: 'ignore' }).status !== 0) {
    throw new Error('no Docker daemon answers; start Docker first (tools/start-docker.sh as root)');
  }
  step('Emulator: install');
  const command = output('tools/install-emulator.sh', []).trim().split('\n').at(-1);
  step('Worker image: build');
  const bases = [
    ...(nodeImage ? ['--build-arg', `NODE_IMAGE=${nodeImage}`] : []),
    ...(busyboxImage ? ['--build-arg', `BUSYBOX_IMAGE=${busyboxImage}`] : []),
  ];
  const file = 'containers/worker/Dockerfile';
  output('docker', ['build', '-q', '-f', file, '--target', 'worker', '-t', WORKER, ...bases, '.']);
  output('tools/fill-emulator-folder.sh', [WORKER, folder]);
  step('Emulator: start');
  port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const env = environment(endpoint);
  emulator = spawn(command, {
    env: { ...env, GATEWAY_PORT: String(port) },
    stdio: 'ignore',
    detached: true,
  });
  await ready(endpoint);
  step('Stack: cdk bootstrap, cdk deploy');
  const cdk = [join(root, 'node_modules/aws-cdk/bin/cdk')];
  output(process.execPath, [...cdk, 'bootstrap', 'aws://000000000000/us-east-1'], {
    cwd: folder,
    env,
  });
  const settings = {
    stackName: STACK,
    platform: 'emulator',
    emulatorFolder: folder,
    removalPolicy: 'destroy',
    workerImage: WORKER,
    defaultImage,
  };
  const context = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const deploy = ['deploy', '--require-approval', 'never', '--output', join(folder, 'cdk.out')];
  output(process.execPath, [...cdk, ...deploy, ...context], { env });
  const shown = [`AWS_ENDPOINT_URL=${endpoint}`, 'AWS_ACCESS_KEY_ID=test …'].join(' ');
  step(`Submit (${shown})`);
  const submit = ['--model=rehearsal', '--batch_size=4', '--num_workers=2'];
  const run = flags.run;
  talaria(['submit', `--dataset_file=${flags.dataset}`, `--run_name=${run}`, ...submit], env);
  step('Progress');
  talaria(['status', run, '--follow'], env);
  step('Download');
  talaria(['download', run, `--output_dir=${flags.output_dir}`], env);
  step('Done');
}

function talaria(words, env) {
  const shown = words.join(' ');
  process.stdout.write(`$ npx talaria ${shown} --stack=${STACK}\n`);
  const bundle = join(root, 'dist/talaria.mjs');
  const done = spawnSync(process.execPath, [bundle, ...words, `--stack=${STACK}`], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  if (done.status !== 0) throw new Error(`talaria ${words[0]} ended with exit code ${done.status}`);
}

function environment(endpoint) {
  return {
    ...environ,
    AWS_ENDPOINT_URL: endpoint,
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
    CI: 'true',
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    CDK_DISABLE_VERSION_CHECK: 'true',
    NODE_NO_WARNINGS: '1',
  };
}

function output(command, words, options = {}) {
  const done = spawnSync(command, words, { cwd: root, encoding: 'utf8', ...options });
  if (done.status === 0) return done.stdout;
  const told = `${done.stdout ?? ''}${done.stderr ?? ''}${done.error?.message ?? ''}`;
  throw new Error(`${command} ${words[0] ?? ''} failed:\n${told.slice(-4000)}`);
}

async function ready(endpoint) {
  const until = performance.now() + READY_MS;
  while (performance.now() < until && emulator.exitCode === null) {
    const answer = await fetch(`${endpoint}/_localstack/health`).catch(() => undefined);
    if (answer?.ok) return;
    await pause(200);
  }
  throw new Error(`the emulator did not answer on ${endpoint} within ${READY_MS / 1000} s`);
}

async function freePort() {
  const server = createServer();
  const port = await new Promise((found) => {
    server.listen(0, '127.0.0.1', () => found(server.address().port));
  });
  await new Promise((closed) => server.close(closed));
  return port;
}

function step(text) {
  const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
  process.stdout.write(`\n[${seconds} s] ${text}\n`);
}

function pause(milliseconds) {
  return new Promise((go) => setTimeout(go, milliseconds));
}

async function untilStopped() {
  process.stdout.write('The stack stays up until Ctrl-C.\n');
  for (;;) await pause(60_000);
}

/** The emulator leaves the containers of tasks behind; those of this one carry its address. */
function removeContainers() {
  const label = `label=ministack.instance=${hostname()}:${port}`;
  const found = spawnSync('docker', ['ps', '-aq', '--filter', label], { encoding: 'utf8' });
  const ids = (found.stdout ?? '').split('\n').filter((id) => id !== '');
  if (ids.length > 0) spawnSync('docker', ['rm', '-f', '-v', ...ids], { stdio: 'ignore' });
}

function end(code) {
  // With the functions that it runs.
  if (emulator?.pid !== undefined && emulator.exitCode === null)
    process.kill(-emulator.pid, 'SIGKILL');
  if (port !== 0) removeContainers();
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    // Containers wrote there as root.
    process.stderr.write(`left behind: ${folder} (${error.message})\n`);
  }
  process.exit(code);
}
