import OpenAI, { APIError } from 'openai';
import { Agent } from 'undici';
import { createAgentFetch, OversizedReplyError } from './agent-fetch.ts';
import type { OpenAiModelOptions } from './openai-options.ts';
import { withTimeLimit } from './time-limit.ts';

/** Longer than a tool usually runs between two calls. */
const KEEP_ALIVE_MS = 30_000;

/** What came of one HTTP request. */
export type ChatAnswer =
  | { kind: 'body'; text: string }
  | { kind: 'refusal'; status: number; headers: Headers; error: unknown }
  | { kind: 'oversized'; why: string }
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
  const { fetch, textOf } = createAgentFetch(agent);
  const client = openAiClient(options, fetch);

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
    return { kind: 'body', text: textOf(response) };
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
        return (
          refusalOf(error) ?? oversizedIn(error) ?? { kind: 'unanswered', why: reasonOf(error) }
        );
      }
    },
    close: () => agent.destroy(),
  };
}

function openAiClient(options: OpenAiModelOptions, fetch: typeof globalThis.fetch): OpenAI {
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
    fetch,
  });
}

function refusalOf(error: unknown): ChatAnswer | undefined {
  if (!(error instanceof APIError) || typeof error.status !== 'number') return undefined;
  const headers = error.headers ?? new Headers();
  return { kind: 'refusal', status: error.status, headers, error: error.error };
}

function oversizedIn(error: unknown): ChatAnswer | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof OversizedReplyError
    ? { kind: 'oversized', why: cause.message }
    : undefined;
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
