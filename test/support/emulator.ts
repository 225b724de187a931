import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const INSTALLED = fileURLToPath(new URL('../../.cache/emulator/bin/ministack', import.meta.url));
// biome-ignore lint/style/noProcessEnv: set by whoever runs the tests
const NAMED = process.env['TALARIA_TEST_EMULATOR'];
/** The command of a LocalStack-compatible emulator: one that is named, or tools/install-emulator.sh's. */
const COMMAND = NAMED ?? (existsSync(INSTALLED) ? INSTALLED : undefined);
// biome-ignore lint/style/noProcessEnv: the same
const IS_CI = process.env['CI'] === 'true';
const READY_MS = 60_000;
const PAUSE_MS = 200;

export interface Emulator {
  /** `http://127.0.0.1:<port>` */
  endpoint: string;
  /** What processes need to talk to it. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** Whether tests with an emulator can run; in CI they must. */
export function hasEmulator(): boolean {
  if (COMMAND !== undefined) return true;
  if (IS_CI) throw new Error('no AWS emulator: CI has to run tools/install-emulator.sh first');
  process.stderr.write(
    'SKIPPED: tests on an AWS emulator; tools/install-emulator.sh puts one into .cache/emulator\n',
  );
  return false;
}

/** An emulator of its own on a free port. */
export async function startEmulator(): Promise<Emulator> {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const env = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
  };
  const child = spawn(COMMAND ?? 'ministack', {
    // biome-ignore lint/style/noProcessEnv: PATH and the like
    env: { ...process.env, ...env, GATEWAY_PORT: String(port) },
    stdio: 'ignore',
    detached: true,
  });
  await ready(endpoint, child);
  return {
    endpoint,
    env,
    async stop() {
      if (child.exitCode !== null || child.pid === undefined) return;
      const ended = once(child, 'exit');
      // With the functions that it started.
      process.kill(-child.pid, 'SIGKILL');
      await ended;
    },
  };
}

async function ready(endpoint: string, child: { exitCode: number | null }): Promise<void> {
  const until = Date.now() + READY_MS;
  while (Date.now() < until && child.exitCode === null) {
    const answer = await fetch(`${endpoint}/_localstack/health`).catch(() => undefined);
    if (answer?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error(`the emulator did not answer on ${endpoint} (exit code ${child.exitCode})`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
