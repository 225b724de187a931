import { UsageError } from '../usage-error.ts';

export interface KeySources {
  baseUrl: string;
  apiKeyFlag: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
}

/** Hosts whose key may come from the environment, and the variables asked, in order. */
const KEY_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  'openrouter.ai': ['OPENROUTER_API_KEY', 'OPENAI_API_KEY'],
  'api.openai.com': ['OPENAI_API_KEY'],
};

/**
 * The key for an endpoint, undefined for one that gets none. A key of the environment is sent to
 * the host it is for and to no other. Throws `UsageError` where the host is known to need one.
 */
export function resolveApiKey({ baseUrl, apiKeyFlag, env }: KeySources): string | undefined {
  const { hostname, username, password } = new URL(baseUrl);
  if (username !== '' || password !== '') {
    throw new UsageError('--base_url: expected no user or password in it; --api_key takes a key');
  }
  if (apiKeyFlag !== undefined) return apiKeyFlag;
  const variables = KEY_VARIABLES[hostname];
  if (variables === undefined) return undefined;
  for (const name of variables) {
    const value = env[name]?.trim();
    if (value) return value;
  }
  throw new UsageError(
    [
      `no API key for ${hostname}. Three ways on:`,
      `  a key:      export ${variables.join(' or ')}, or --api_key=…`,
      '  a server:   --base_url=http://127.0.0.1:8000/v1 (any OpenAI-compatible server; needs no key)',
      '  rehearsal:  --model=rehearsal (no model, no key, no network; real tools, made-up answers)',
    ].join('\n'),
  );
}
