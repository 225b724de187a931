import { type Agent, request } from 'undici';
import { boundedText } from './bounded-text.ts';

/** Bytes of a reply that are taken. A completion is far below; more would fill the memory. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
const MAX_REFUSAL_BYTES = 256 * 1024;

/** A reply over 64 MB. */
export class OversizedReplyError extends Error {
  override readonly name = 'OversizedReplyError';

  constructor() {
    super(`the answer is over ${MAX_REPLY_BYTES} bytes`);
  }
}

export interface AgentFetch {
  fetch: typeof globalThis.fetch;
  /** The text of a response it gave, which has passed no stream: those cost more than the parsing. */
  textOf(response: Response): string;
}

/**
 * A `fetch` for the openai client on the connections of `agent`, for bodies that are text. It rests
 * on undici's `request`, which costs a third of its `fetch`, and reads the whole body, bounded,
 * while the call's signal still holds. Redirects are answers: a redirected POST would go on as a
 * GET, or carry prompts to another host. Throws `OversizedReplyError`.
 */
export function createAgentFetch(agent: Agent): AgentFetch {
  const texts = new WeakMap<Response, string>();

  const fetch: typeof globalThis.fetch = async (url, init) => {
    const { statusCode, headers, body } = await request(String(url), {
      method: 'POST',
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: String(init?.body),
      signal: init?.signal ?? null,
      dispatcher: agent,
    });
    const isRefused = statusCode < 200 || statusCode > 299;
    const limit = isRefused ? MAX_REFUSAL_BYTES : MAX_REPLY_BYTES;
    const { text, isWhole } = await boundedText(body, limit);
    if (!isRefused && !isWhole) throw new OversizedReplyError();
    const response = new Response(isRefused ? refusedBody(statusCode, text, headers) : null, {
      status: statusCode,
      headers: waitHeaders(headers),
    });
    texts.set(response, text);
    return response;
  };
  return { fetch, textOf: (response) => texts.get(response) ?? '' };
}

/** What the openai client reads of a refusal. */
function refusedBody(
  status: number,
  text: string,
  headers: Record<string, string | string[] | undefined>,
): string | null {
  return mustBeEmpty(status) ? null : refusalText(text, headers['location']);
}

/** Error JSON in the one form of which the openai client keeps everything. */
function refusalText(text: string, location: string | string[] | undefined): string {
  const redirect = location === undefined ? undefined : { message: `redirect to ${location}` };
  return JSON.stringify({ error: errorIn(text) ?? redirect ?? text });
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

function waitHeaders(headers: Record<string, string | string[] | undefined>): Headers {
  const kept = new Headers();
  for (const name of ['retry-after', 'retry-after-ms']) {
    const value = headers[name];
    if (typeof value === 'string') kept.set(name, value);
  }
  return kept;
}

function mustBeEmpty(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}
