import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer } from './model-server-answer.ts';
import type { ScriptedReply } from './model-server-replies.ts';

/** One chat completion request as it arrived. */
export interface RecordedRequest {
  /** 0 for the first request of this server. */
  number: number;
  path: string;
  headers: IncomingHttpHeaders;
  /** The bytes of the body as text. */
  text: string;
  /** The parsed body; `{messages: []}` with nothing else where it was not JSON. */
  body: ChatBody;
  /** Milliseconds since the server started. */
  atMs: number;
}

export interface ChatBody {
  model?: string;
  messages: ChatBodyMessage[];
  tools?: { type: string; function: { name: string } }[];
  [key: string]: unknown;
}

export interface ChatBodyMessage {
  role: string;
  content: string | null;
  tool_call_id?: string;
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
  [key: string]: unknown;
}

export interface ModelServer {
  /** To be used as `--base_url`. */
  baseUrl: string;
  /** All requests so far, in the order of arrival. */
  requests: RecordedRequest[];
  /** TCP connections accepted so far. */
  connections(): number;
  /** Most requests that were being answered at one time. */
  maxInFlight(): number;
  /** Requests whose client went away before the answer was complete. */
  aborted(): number;
  /** Stops listening and drops all connections, hanging ones too. */
  close(): Promise<void>;
}

export interface ModelServerScript {
  /** Decides the answer to each request; may be asynchronous. A throw answers 500. */
  reply(request: RecordedRequest): ScriptedReply | Promise<ScriptedReply>;
  /** 0, the default, takes a free port. */
  port?: number;
}

/**
 * A real HTTP server on loopback in the place of a model provider. What it answers is scripted per
 * request with the helpers of `model-server-replies.ts`:
 *
 *     const server = await startModelServer({ reply: () => text('Hello') });
 *     … --base_url=${server.baseUrl} --api_key=test …
 *     expect(server.requests[0]?.body.messages).toEqual([…]);
 *     await server.close();
 *
 * Other processes can use it too, as long as the process that started it lives.
 */
export async function startModelServer(script: ModelServerScript): Promise<ModelServer> {
  const startedAt = performance.now();
  const requests: RecordedRequest[] = [];
  const count = { connections: 0, inFlight: 0, maxInFlight: 0, aborted: 0 };

  const server = createServer((incoming, outgoing) => {
    count.inFlight += 1;
    count.maxInFlight = Math.max(count.maxInFlight, count.inFlight);
    outgoing.on('close', () => {
      count.inFlight -= 1;
      if (!outgoing.writableFinished) count.aborted += 1;
    });
    readText(incoming)
      .then(async (text) => {
        const request: RecordedRequest = {
          number: requests.length,
          path: incoming.url ?? '',
          headers: incoming.headers,
          text,
          body: parseBody(text),
          atMs: performance.now() - startedAt,
        };
        requests.push(request);
        await answer(outgoing, await script.reply(request));
      })
      .catch((error: unknown) => {
        if (outgoing.headersSent) outgoing.destroy();
        else outgoing.writeHead(500).end(`the script of the model server threw: ${error}`);
      });
  });
  server.on('connection', () => {
    count.connections += 1;
  });
  // Idle connections stay open, so that only the client decides about their reuse.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: script.port ?? 0, host: '127.0.0.1', backlog: 1024 }, resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    connections: () => count.connections,
    maxInFlight: () => count.maxInFlight,
    aborted: () => count.aborted,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function parseBody(text: string): ChatBody {
  try {
    return JSON.parse(text) as ChatBody;
  } catch {
    return { messages: [] };
  }
}
