import { createServer, type Socket } from 'node:net';

/**
 * Listens on a Unix socket for the one connection that will ever be served, then takes the socket
 * away. Resolves to undefined where none has come in time. Any user may connect: whoever can is in
 * this sandbox or is its agent, which comes before anything else runs here.
 */
export async function firstConnection(
  path: string,
  timeoutMs: number,
): Promise<Socket | undefined> {
  const server = createServer();
  try {
    return await new Promise<Socket | undefined>((resolve, reject) => {
      const timer = setTimeout(() => resolve(undefined), timeoutMs);
      server.on('error', reject);
      server.on('connection', (connection) => {
        clearTimeout(timer);
        // Of several that came at once, all but the first are turned away.
        if (server.listening) resolve(connection);
        else connection.destroy();
        if (server.listening) server.close();
      });
      server.listen({ path, readableAll: true, writableAll: true });
    });
  } finally {
    if (server.listening) server.close();
  }
}
