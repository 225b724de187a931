import { z } from 'zod';

const modelKeysSchema = z.record(z.string(), z.string().min(1));

/** Keys of model endpoints, each by the host, with its port unless that is the usual one, it is for. */
export type ModelKeys = z.infer<typeof modelKeysSchema>;

/** Reads `{"<host>": "<key>"}`. Throws without a word of what came: it is secret. */
export function parseModelKeys(text: string): ModelKeys {
  const keys = modelKeysSchema.safeParse(jsonOf(text));
  if (keys.success) return keys.data;
  throw new Error('MODEL_KEYS: expected a JSON object of keys by host, got something else');
}

/**
 * The key for this endpoint and no other host's; undefined for one that gets none. A host without a
 * port is meant to be asked by https: its key is not sent in clear.
 */
export function keyForHost(keys: ModelKeys, baseUrl: string): string | undefined {
  const { host, port, protocol } = new URL(baseUrl);
  if (protocol === 'http:' && port === '') return undefined;
  return Object.hasOwn(keys, host) ? keys[host] : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
