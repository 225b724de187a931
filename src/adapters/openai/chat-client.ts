import OpenAI, { APIError } from 'openai';
import { Agent, fetch as undiciFetch } from 'undici';
import { boundedText } from './bounded-text.ts';
import type { OpenAiModelOptions } from './openai-options.ts';
import { withTimeLimit } from './time-limit.ts';

/** Bytes of a reply that are taken. A completion is far below; more would fill the memory. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
const MAX_REFUSAL_BYTES = 256 * 1024;
const KEEP_ALIVE_MS = 30_000;

/** What came of one HTTP request. */
export type ChatAnswer =
  | { kind: 'body'; text: string }
  | { kind: 'refusal'; status: number; headers: Headers; error: unknown }
  | { kind: 'oversized'; maxBytes: number }
  | { kind: 'unanswered'; why: string };

export interface ChatClient {
  /** One request, without retries. Rejects only with the reason of `signal`. */
  post(json: string, signal: AbortSignal): Promise<ChatAnswer>;
  /** Drops all connections. */
  close(): Promise<void>;
}

/** A client of `POST <baseUrl>/chat/completions` on connections of its own. */
export function createChatClient(options: OpenAiModelOptions): ChatClient {
  const agent = new Agent({
    connections: options.maxConnections,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // One limit for the whole answer is kept by `withTimeLimit`.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const client = openAiClient(options, agent);

  async function send(json: string, signal: AbortSignal): Promise<ChatAnswer> {
    // `post` and not `chat.completions.create`: the body has fields that its types do not know, and
    // the answer is parsed by us, since it may be anything.
    const response = await client
      .post('/chat/completions', {
        body: json,
        headers: { 'content-type': 'application/json' },
        signal,
      })
      .asResponse();
    const { text, isWhole } = await boundedText(response, MAX_REPLY_BYTES);
    return isWhole ? { kind: 'body', text } : { kind: 'oversized', maxBytes: MAX_REPLY_BYTES };
  }

  return {
    async post(json, signal) {
      try {
        const limit = options.requestTimeoutMs;
        const answer = await withTimeLimit(limit, signal, (limited) => send(json, limited));
        if (answer !== 'timeout') return answer;
        return { kind: 'unanswered', why: `no complete answer within ${limit} ms` };
      } catch (error) {
        signal.throwIfAborted();
        return refusalOf(error) ?? { kind: 'unanswered', why: reasonOf(error) };
      }
    },
    close: () => agent.destroy(),
  };
}

function openAiClient(options: OpenAiModelOptions, agent: Agent): OpenAI {
  return new OpenAI({
    baseURL: options.baseUrl,
    // The client wants a key; the header made of this one is taken out again.
    apiKey: options.apiKey ?? 'none',
    defaultHeaders: {
      'x-stainless-timeout': null,
      ...(options.apiKey === undefined && { authorization: null }),
    },
    // Given as null, they are not looked up in the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: 2 ** 31 - 1,
    logLevel: 'off',
    fetch: fetchThrough(agent),
  });
}

function fetchThrough(agent: Agent): typeof globalThis.fetch {
  const send = undiciFetch as unknown as (url: unknown, init: unknown) => Promise<Response>;
  return async (url, init) => {
    // A redirected POST would go on as a GET, or carry prompts to another host.
    const response = await send(url, { ...init, dispatcher: agent, redirect: 'manual' });
    return response.ok ? response : readableRefusal(response);
  };
}

/** A refusal whose body the client's error will hold whatever it is, and of bounded size. */
async function readableRefusal(response: Response): Promise<Response> {
  const { text } = await boundedText(response, MAX_REFUSAL_BYTES);
  const error = errorIn(text) ?? redirectIn(response) ?? text;
  const status = response.status;
  // 304 must not have a body; its words are of no use either.
  const body = status === 304 ? null : JSON.stringify({ error });
  return new Response(body, { status, headers: waitHeaders(response.headers) });
}

function waitHeaders(headers: Headers): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of ['retry-after', 'retry-after-ms']) {
    const value = headers.get(name);
    if (value !== null) kept[name] = value;
  }
  return kept;
}

function errorIn(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== 'object' || body === null) return undefined;
    return ('error' in body && body.error) || body;
  } catch {
    return undefined;
  }
}

function redirectIn(response: Response): unknown {
  const location = response.headers.get('location');
  return location === null ? undefined : { message: `redirect to ${location}` };
}

function refusalOf(error: unknown): ChatAnswer | undefined {
  if (!(error instanceof APIError) || typeof error.status !== 'number') return undefined;
  const headers = error.headers ?? new Headers();
  return { kind: 'refusal', status: error.status, headers, error: error.error };
}

/** The innermost cause that says something: "fetch failed" and "Connection error." do not. */
function reasonOf(error: unknown): string {
  let reason = String(error);
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const code = 'code' in at && typeof at.code === 'string' ? at.code : '';
    reason = at.message.includes(code) ? at.message : `${code} ${at.message}`;
    reason = reason.trim() || code || at.name;
  }
  return reason;
}
