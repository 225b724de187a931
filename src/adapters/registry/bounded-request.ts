import { ImageGoneError, RegistryBusyError } from '../../core/ports/image-registry.ts';

export interface Answer {
  status: number;
  headers: Headers;
  body: Buffer;
}

export interface RequestLimits {
  /** Until the answer's last byte. */
  timeoutMs: number;
  mostBytes: number;
  /** Whether plain HTTP to this machine is fine. */
  allowLoopback: boolean;
}

const MOST_REDIRECTS = 3;

/**
 * GET with bounds, redirects followed; `authorization` goes to the first origin alone. Throws
 * `RegistryBusyError` where there is no whole answer, `ImageGoneError` where it is too large.
 */
export async function boundedRequest(
  url: URL,
  headers: Readonly<Record<string, string>>,
  limits: RequestLimits,
): Promise<Answer> {
  const signal = AbortSignal.timeout(limits.timeoutMs);
  let at = url;
  for (let hops = 0; ; hops += 1) {
    assertReachable(at, limits);
    const { authorization: _, ...open } = headers;
    const sent = at.origin === url.origin ? headers : open;
    const answer = await get(at, sent, signal, limits.mostBytes);
    const to = answer.headers.get('location');
    if (answer.status < 300 || answer.status >= 400 || to === null) return answer;
    if (hops === MOST_REDIRECTS) throw new RegistryBusyError(`${url.host} redirects without end`);
    if (!URL.canParse(to, at.href))
      throw new RegistryBusyError(`${url.host} redirects to no address`);
    at = new URL(to, at);
  }
}

function assertReachable({ protocol, host, hostname }: URL, limits: RequestLimits): void {
  if (protocol === 'https:') return;
  const isHere = hostname === 'localhost' || hostname.startsWith('127.');
  if (protocol === 'http:' && isHere && limits.allowLoopback) return;
  throw new ImageGoneError(`${host}: only registries with HTTPS are asked`);
}

async function get(
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  mostBytes: number,
): Promise<Answer> {
  try {
    const response = await fetch(url, { headers, signal, redirect: 'manual' });
    const body = await read(response, mostBytes);
    return { status: response.status, headers: response.headers, body };
  } catch (error) {
    if (error instanceof ImageGoneError) throw error;
    if (codeOf(error) === 'ENOTFOUND') {
      throw new ImageGoneError(`there is no registry ${url.host}`, { cause: error });
    }
    throw new RegistryBusyError(`${url.host} gave no answer: ${wordsOf(error)}`, { cause: error });
  }
}

async function read(response: Response, mostBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > mostBytes) {
      throw new ImageGoneError(
        `${new URL(response.url).host} answered with more than ${mostBytes} bytes`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Of the system's own error behind fetch's. */
function codeOf(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? `${error.message} (${cause.message})` : error.message;
}
