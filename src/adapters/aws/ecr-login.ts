import { type ECRClient, GetAuthorizationTokenCommand } from '@aws-sdk/client-ecr';
import type { StoredLogin } from './registry-logins.ts';

/** Private registries of AWS: account, then region. */
const HOST = /^(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?$/;
/** Tokens hold for twelve hours. */
const KEEP_MS = 3_600_000;

/**
 * Logins of ECR's private registries, asked of AWS itself; undefined for any other registry. Which
 * repositories they open is the function's role's matter.
 */
export function createEcrLogins(
  clientOf: (region: string) => ECRClient,
  now: () => number,
): (registry: string) => Promise<StoredLogin | undefined> {
  const known = new Map<string, { login: StoredLogin; until: number }>();
  return async (registry) => {
    const [, , region] = HOST.exec(registry) ?? [];
    if (region === undefined) return undefined;
    const kept = known.get(region);
    if (kept !== undefined && kept.until > now()) return kept.login;
    const { authorizationData } = await clientOf(region).send(new GetAuthorizationTokenCommand({}));
    const login = loginOf(authorizationData?.[0]?.authorizationToken ?? '');
    known.set(region, { login, until: now() + KEEP_MS });
    return login;
  };
}

/** `name:password` in base64. */
function loginOf(token: string): StoredLogin {
  const [username = '', password = ''] = Buffer.from(token, 'base64').toString('utf8').split(':');
  if (username === '' || password === '') throw new Error('ECR answered with no login');
  return { username, password };
}
