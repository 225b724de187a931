import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { type ModelKeys, parseModelKeys } from '../../core/cloud/model-keys.ts';

/** The keys of models by host, in the stack's secret. */
export interface ModelKeySecret {
  /** Hosts that have a key. */
  hosts(): Promise<string[]>;
  set(host: string, key: string): Promise<void>;
  /** Resolves to whether there was one. */
  remove(host: string): Promise<boolean>;
}

export function openModelKeySecret(arn: string): ModelKeySecret {
  const client = new SecretsManagerClient({});

  async function read(): Promise<ModelKeys> {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: arn }));
    return parseModelKeys(SecretString || '{}');
  }

  async function write(keys: ModelKeys): Promise<void> {
    const put = { SecretId: arn, SecretString: JSON.stringify(keys) };
    await client.send(new PutSecretValueCommand(put));
  }

  return {
    hosts: async () => Object.keys(await read()).sort(),
    set: async (host, key) => write({ ...(await read()), [host]: key }),
    async remove(host) {
      const { [host]: found, ...rest } = await read();
      if (found !== undefined) await write(rest);
      return found !== undefined;
    },
  };
}
