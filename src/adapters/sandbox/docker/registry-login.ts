import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { askCredentialHelper, type HelperDeps } from './credential-helper.ts';

/** As the Docker daemon takes it, for one registry. */
export interface RegistryAuth {
  serveraddress: string;
  username?: string;
  password?: string;
  identitytoken?: string;
  registrytoken?: string;
}

export interface RegistryLogin {
  /** Undefined where Docker has no login for this registry. */
  auth: RegistryAuth | undefined;
  /** Why there is none although there should be; without any secret. */
  problem?: string;
}

/** The login for a registry, by its host and port. Never throws. */
export type RegistryLogins = (registry: string) => Promise<RegistryLogin>;

export interface RegistryLoginDeps extends HelperDeps {
  /** The folder of Docker's own `config.json`. */
  configFolder: string;
}

/** Under which Docker keeps the login of its own registry. */
const HUB_KEY = 'https://index.docker.io/v1/';

const text = z.string().nullish();
const entrySchema = z.object({
  auth: text,
  username: text,
  password: text,
  identitytoken: text,
  registrytoken: text,
});
const configSchema = z.object({
  auths: z.record(z.string(), entrySchema).nullish(),
  credHelpers: z.record(z.string(), z.string()).nullish(),
  credsStore: text,
});
type DockerConfig = z.infer<typeof configSchema>;

/** Logins as `docker pull` finds them: a registry's helper, else the store, else the file itself. */
export function createRegistryLogins(deps: RegistryLoginDeps): RegistryLogins {
  // A helper that fails or hangs does so each time: it is asked once.
  const failed = new Map<string, RegistryLogin>();
  let config: Promise<DockerConfig | string> | undefined;

  return async (registry) => {
    config ??= readConfig(join(deps.configFolder, 'config.json'));
    const found = await config;
    if (typeof found === 'string') return { auth: undefined, problem: found };
    const key = registry === 'docker.io' ? HUB_KEY : registry;
    const login = failed.get(key) ?? (await loginOf(found, key, deps));
    if (login.problem !== undefined) failed.set(key, login);
    return login;
  };
}

/** The config, or why it can't be had. */
async function readConfig(path: string): Promise<DockerConfig | string> {
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? {} : `${path} can't be read (${code})`;
  }
  try {
    return configSchema.parse(JSON.parse(content));
  } catch {
    // What is wrong is not told: it might quote a secret.
    return `${path} is not Docker's config in JSON`;
  }
}

async function loginOf(
  config: DockerConfig,
  key: string,
  deps: HelperDeps,
): Promise<RegistryLogin> {
  const helpers = config.credHelpers ?? {};
  const helper = Object.hasOwn(helpers, key) ? helpers[key] : config.credsStore;
  if (helper) return await askHelper(helper, key, deps);
  const auths = config.auths ?? {};
  const name = Object.hasOwn(auths, key)
    ? key
    : Object.keys(auths).find((address) => hostOf(address) === key);
  const entry = name === undefined ? undefined : auths[name];
  return entry === undefined ? { auth: undefined } : stored(entry, key);
}

function hostOf(address: string): string {
  return address.replace(/^https?:\/\//, '').replace(/\/.*$/s, '');
}

async function askHelper(helper: string, key: string, deps: HelperDeps): Promise<RegistryLogin> {
  try {
    const found = await askCredentialHelper(helper, key, deps);
    if (found === undefined) return { auth: undefined };
    const { username, secret } = found;
    return {
      auth:
        username === '<token>'
          ? { serveraddress: key, identitytoken: secret }
          : { serveraddress: key, username, password: secret },
    };
  } catch (error) {
    return { auth: undefined, problem: error instanceof Error ? error.message : String(error) };
  }
}

function stored(entry: z.infer<typeof entrySchema>, key: string): RegistryLogin {
  const { identitytoken, registrytoken } = entry;
  const { username, password } = entry.auth ? nameAndPassword(entry.auth) : entry;
  if (entry.auth && !username) {
    return { auth: undefined, problem: `the login for ${key} is not name:password in base64` };
  }
  if (!username && !identitytoken && !registrytoken) return { auth: undefined };
  return {
    auth: {
      serveraddress: key,
      ...(username && { username }),
      ...(password && { password }),
      ...(identitytoken && { identitytoken }),
      ...(registrytoken && { registrytoken }),
    },
  };
}

function nameAndPassword(auth: string): { username?: string; password?: string } {
  const decoded = Buffer.from(auth, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon < 0) return {};
  // Older clients of Docker wrote zeros at the end, and newer ones cut them off.
  const password = decoded.slice(colon + 1).replace(/\0+$/, '');
  return { username: decoded.slice(0, colon), password };
}
