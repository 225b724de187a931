import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { z } from 'zod';

/** As ECS wants a registry's secret. */
const loginSchema = z.object({ username: z.string().min(1), password: z.string().min(1) });
export type StoredLogin = z.infer<typeof loginSchema>;

/** Logins of registries from their secrets, read once each; `secrets` are their ARNs by registry. */
export function createRegistryLogins(
  client: SecretsManagerClient,
  secrets: Readonly<Record<string, string>>,
): (registry: string) => Promise<StoredLogin | undefined> {
  const known = new Map<string, Promise<StoredLogin>>();

  async function read(SecretId: string): Promise<StoredLogin> {
    const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId }));
    const login = loginSchema.safeParse(jsonOf(SecretString));
    if (login.success) return login.data;
    // Without what was wrong: it might quote the secret.
    throw new Error(`the secret ${SecretId} is not {"username": …, "password": …}`);
  }

  return async (registry) => {
    const secret = secrets[registry];
    if (secret === undefined) return undefined;
    const reading = known.get(registry) ?? read(secret);
    known.set(registry, reading);
    try {
      return await reading;
    } catch (error) {
      known.delete(registry);
      throw error;
    }
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
