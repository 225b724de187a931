import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Larger than manifests and configs of tests. */
const LAYER_BYTES = 100_000;

/** A registry before another that gives the first half of a layer and then nothing, until let go. */
export interface HeldRegistry {
  host: string;
  /** Sends the rest of all layers, these and later ones. */
  letGo(): void;
  stop(): Promise<void>;
}

export async function startHeldRegistry(behind: string): Promise<HeldRegistry> {
  const waiting = new Set<() => void>();
  let isHeld = true;

  function send(bytes: Buffer, to: ServerResponse) {
    if (!isHeld || bytes.length < LAYER_BYTES) {
      to.end(bytes);
      return;
    }
    const half = bytes.length / 2;
    to.write(bytes.subarray(0, half));
    const rest = () => void to.end(bytes.subarray(half));
    waiting.add(rest);
    to.once('close', () => waiting.delete(rest));
  }

  const server = createServer((request, response) => {
    const headers = { ...request.headers };
    const { method = 'GET' } = request;
    const asked = get(`http://${behind}${request.url}`, { method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        send(Buffer.concat(chunks), response);
      });
    });
    asked.on('error', () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    letGo() {
      isHeld = false;
      for (const rest of waiting) rest();
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
