import { z } from 'zod';
import { ImageGoneError, RegistryBusyError } from '../../core/ports/image-registry.ts';
import { boundedRequest, type RequestLimits } from './bounded-request.ts';

export interface RegistryLogin {
  username: string;
  password: string;
}

const MOST_BYTES = 64 * 1024;
const tokenSchema = z.object({
  token: z.string().min(1).optional(),
  access_token: z.string().min(1).optional(),
});

/**
 * The `Authorization` that a registry asks for by its `WWW-Authenticate`: a token of the place it names,
 * or the login itself. Throws `ImageGoneError` where it wants a login and there is none.
 */
export async function authorizationFor(
  challenge: string,
  of: { registry: string; repository: string; login: RegistryLogin | undefined },
  limits: RequestLimits,
): Promise<string> {
  const { registry, repository, login } = of;
  if (/^basic\b/i.test(challenge)) {
    if (login === undefined)
      throw new ImageGoneError(`${registry} wants a login, and has none here`);
    return basic(login);
  }
  const url = tokenAddress(challenge, registry, repository);
  const headers: Record<string, string> =
    login === undefined ? {} : { authorization: basic(login) };
  const answer = await boundedRequest(url, headers, { ...limits, mostBytes: MOST_BYTES });
  if (answer.status === 401 || answer.status === 403) {
    throw new ImageGoneError(
      login === undefined
        ? `${registry} gives no access without a login`
        : `${registry} refuses the login in its secret`,
    );
  }
  if (answer.status !== 200) throw new RegistryBusyError(`${url.host} answered ${answer.status}`);
  return `Bearer ${tokenOf(answer.body, url.host)}`;
}

function tokenAddress(challenge: string, registry: string, repository: string): URL {
  const { realm = '', service, scope } = parametersOf(challenge);
  if (!/^bearer\b/i.test(challenge) || !URL.canParse(realm)) {
    throw new RegistryBusyError(`${registry} asks for a login that is not known here`);
  }
  const url = new URL(realm);
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', scope ?? `repository:${repository}:pull`);
  return url;
}

function parametersOf(challenge: string): Record<string, string> {
  const found = challenge.slice(0, 2_000).matchAll(/([a-z_]+)="([^"]*)"/gi);
  return Object.fromEntries(
    [...found].map(([, name = '', value = '']) => [name.toLowerCase(), value]),
  );
}

function tokenOf(body: Buffer, host: string): string {
  try {
    const { token, access_token: other } = tokenSchema.parse(JSON.parse(body.toString('utf8')));
    const found = token ?? other;
    if (found !== undefined && /^[\x21-\x7e]+$/.test(found)) return found;
  } catch {
    // What is wrong is not told: it might quote a secret.
  }
  throw new RegistryBusyError(`${host} answered with no token`);
}

function basic({ username, password }: RegistryLogin): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
