import { chmodSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';

const MODE = 0o666;
const AGAIN_MS = 100;
const MOST_TRIES = 600;

/**
 * Listens on a Unix socket for the one connection that will ever be served, then takes the socket
 * away. Resolves to undefined where none has come in time. Any user may connect: whoever can is in
 * this sandbox or is its agent, which comes before anything else runs here.
 */
export function firstConnection(path: string, timeoutMs: number): Promise<Socket | undefined> {
  // The agent's end of it comes first; ours when all that runs here has ended.
  const server = createServer({ allowHalfOpen: true });
  let tries = 0;
  function listen(): void {
    tries += 1;
    server.listen(path, () => chmodSync(path, MODE));
  }
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), timeoutMs);
    server.on('error', (error: NodeJS.ErrnoException) => {
      // Where containers start in any order, the folder may not be everyone's yet.
      if (error.code === 'EACCES' && tries < MOST_TRIES) setTimeout(listen, AGAIN_MS);
      else reject(error);
    });
    server.on('connection', (connection) => {
      // Of several that came at once, all but the first are turned away.
      if (!server.listening) {
        connection.destroy();
        return;
      }
      server.close();
      clearTimeout(timer);
      resolve(connection);
    });
    listen();
  });
}
