import { lstat } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MS = 100;
/** What is met while the daemon starts: no socket yet, one that nobody listens on, its mode not set. */
const NOT_YET = new Set(['ENOENT', 'ECONNREFUSED', 'EACCES']);

/**
 * Connects to a daemon's Unix socket as soon as there is one; undefined where none has come in time
 * or `signal` aborts. Throws for what is there but no socket: a link could lead to another sandbox.
 */
export async function connectWhenThere(
  path: string,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Socket | undefined> {
  const until = performance.now() + timeoutMs;
  while (performance.now() < until && !signal.aborted) {
    try {
      if (!(await lstat(path)).isSocket()) throw new Error(`${path}: expected a socket`);
      return await connect(path);
    } catch (error) {
      if (!NOT_YET.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
    await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

function connect(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      // Until its owner listens.
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}
