import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

let bundle: Promise<string> | undefined;

/** The worker of these sources as one file, built once. */
function workerBundle(): Promise<string> {
  bundle ??= buildWorker();
  return bundle;
}

export async function removeWorkerBundle(): Promise<void> {
  if (bundle !== undefined) await rm(dirname(await bundle), { recursive: true, force: true });
  bundle = undefined;
}

async function buildWorker(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-worker-'));
  const outfile = join(folder, 'worker.mjs');
  await build({
    entryPoints: [new URL('../../containers/worker/main.ts', import.meta.url).pathname],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    logLevel: 'warning',
    banner: {
      js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
    },
  });
  return outfile;
}

export interface WorkerProcess {
  child: ChildProcess;
  /** What it has logged so far. */
  lines(): Record<string, unknown>[];
  /** Resolves when it has logged this message. */
  logged(message: string): Promise<void>;
  /** Resolves to its exit code, or signal. */
  ended: Promise<number | string>;
}

/** A worker as its own process, with no more of an environment than given. */
export async function startWorker(env: Record<string, string>): Promise<WorkerProcess> {
  const child = spawn(process.execPath, ['--no-warnings', await workerBundle()], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let errors = '';
  const watchers = new Set<() => void>();
  child.stdout.on('data', (chunk) => {
    out += chunk;
    for (const watcher of watchers) watcher();
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const lines = () =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const ended = once(child, 'close').then(([code, signal]: (number | string)[]) => {
    if (code === 1) throw new Error(`the worker failed: ${errors}`);
    return code ?? signal ?? '';
  });
  ended.catch(() => undefined);
  return {
    child,
    lines,
    ended,
    logged: (message) =>
      new Promise((resolve) => {
        const watcher = () => {
          if (!lines().some((line) => line['message'] === message)) return;
          watchers.delete(watcher);
          resolve();
        };
        watchers.add(watcher);
        watcher();
      }),
  };
}
