import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HoldingProxy {
  endpoint: string;
  /** Resolves when a request was held. */
  held: Promise<void>;
  close(): Promise<void>;
}

/** Passes requests on to `endpoint`, but for those of which `isHeld` is true: they get no answer. */
export async function startHoldingProxy(
  endpoint: string,
  isHeld: (of: { target: string; method: string; path: string; body: string }) => boolean,
): Promise<HoldingProxy> {
  const { hostname, port } = new URL(endpoint);
  let tellHeld: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    tellHeld = resolve;
  });
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = 'GET', url: path = '/', headers } = incoming;
    const target = String(headers['x-amz-target'] ?? '');
    if (isHeld({ target, method, path, body: body.toString('utf8') })) return tellHeld();
    const on = request({ hostname, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    on.on('error', () => outgoing.destroy());
    on.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
