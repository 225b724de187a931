import { createHash } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processStarted } from '../adapters/local/run-lock.ts';
import { systemClock } from '../adapters/local/system-clock.ts';
import type { Clock } from '../core/ports/clock.ts';

declare const TALARIA_VERSION: string;

/** Everything that commands take from the world, made once. */
export interface Wiring {
  version: string;
  nodeVersion: string;
  env: Readonly<Record<string, string | undefined>>;
  pid: number;
  host: string;
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  /** Folder for the sandboxes of this user. */
  sandboxRoot: string;
  /** The same in memory, for what is small and private; undefined where there is no such place. */
  sandboxMemoryRoot: string | undefined;
  /** Sources of the sandbox runtime, and its daemon in one file. */
  sandboxRuntime: { sourceFolder: string; daemonFile: string };
  /** The folder of Docker's own config of this user. */
  dockerConfigFolder: string;
  /** What can be made again, and is not to be each time. */
  cacheFolder: string;
  clock: Clock;
  sha256Hex(text: string): string;
  random(): number;
  processStarted(pid: number): Promise<string | undefined>;
  /** Calls back for the signals that ask to stop. Returns the way to no longer listen. */
  onStopSignal(callback: () => void): () => void;
  exit(code: number): never;
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Linux' file system in memory, writable to all. */
const SHARED_MEMORY = '/dev/shm';

function isWritableFolder(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function createWiring(): Wiring {
  // What Node the SDK will ask for some day is no matter of whoever submits a run.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const folderName = `talaria-${process.getuid?.() ?? 0}`;
  return {
    version: TALARIA_VERSION,
    nodeVersion: process.version,
    env: process.env,
    pid: process.pid,
    host: hostname(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    sandboxRoot: join(tmpdir(), folderName),
    sandboxMemoryRoot: isWritableFolder(SHARED_MEMORY)
      ? join(SHARED_MEMORY, folderName)
      : undefined,
    sandboxRuntime: {
      sourceFolder: fileURLToPath(new URL('../containers/sandbox/', import.meta.url)),
      daemonFile: fileURLToPath(new URL('sandbox-daemon.mjs', import.meta.url)),
    },
    dockerConfigFolder: process.env['DOCKER_CONFIG'] || join(homedir(), '.docker'),
    cacheFolder: join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'talaria'),
    clock: systemClock,
    sha256Hex: (text) => createHash('sha256').update(text, 'utf8').digest('hex'),
    random: Math.random,
    processStarted,
    onStopSignal(callback) {
      for (const signal of STOP_SIGNALS) process.on(signal, callback);
      return () => {
        for (const signal of STOP_SIGNALS) process.off(signal, callback);
      };
    },
    exit: (code) => process.exit(code),
  };
}
