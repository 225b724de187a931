import { z } from 'zod';
import { oneLine } from './redact-secrets.ts';

/** Characters of an error body that are looked at. */
export const MAX_LOOKED_AT = 16_384;

/** What a provider said about a refusal, each on one line and not yet redacted. */
export interface ProviderWords {
  /** For people: the message, and the message of the provider behind it. */
  message: string;
  /** For rules: error codes and types, space-separated, lower case. */
  codes: string;
}

const text = z.unknown().transform((value) => {
  if (typeof value === 'string') return value.slice(0, MAX_LOOKED_AT);
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return '';
  return JSON.stringify(value).slice(0, MAX_LOOKED_AT);
});

/** The error objects of OpenAI, OpenRouter, vLLM, FastAPI and the like. */
const errorSchema = z
  .looseObject({
    message: text,
    detail: text,
    error: z.unknown(),
    code: text,
    type: text,
    status: text,
    metadata: z
      .looseObject({
        raw: text,
        reasons: text,
        limit_source: text,
        error_type: text,
        provider_name: text,
      })
      .partial()
      .catch({}),
  })
  .partial();

/** Reads an error body: parsed JSON, or the text where it was none. Never throws. */
export function providerWords(body: unknown): ProviderWords {
  if (typeof body === 'string') {
    return { message: oneLine(body.slice(0, MAX_LOOKED_AT)), codes: '' };
  }
  const parsed = errorSchema.safeParse(body);
  if (!parsed.success) {
    const json = body === undefined || body === null ? '' : (JSON.stringify(body) ?? '');
    return { message: oneLine(json.slice(0, MAX_LOOKED_AT)), codes: '' };
  }
  return wordsOf(parsed.data);
}

function wordsOf(error: z.infer<typeof errorSchema>): ProviderWords {
  const metadata = error.metadata ?? {};
  const behind = innerMessage(metadata.raw ?? '');
  const inner = typeof error.error === 'string' ? error.error : '';
  const said = [error.message || error.detail || inner, behind, metadata.reasons]
    .filter((part) => part !== undefined && part !== '')
    .join(': ');
  const codes = [
    error.code,
    error.type,
    error.status,
    metadata.error_type,
    metadata.limit_source,
  ].filter((code) => code !== undefined && code !== '');
  return {
    message: oneLine(said || codes.join(' ')),
    codes: oneLine(codes.join(' ')).toLowerCase(),
  };
}

/** The message inside `metadata.raw`, which is the body of the provider behind OpenRouter. */
function innerMessage(raw: string): string {
  try {
    const body: unknown = JSON.parse(raw);
    const error = z.looseObject({ error: z.looseObject({ message: z.string() }) }).safeParse(body);
    return error.success ? error.data.error.message : raw;
  } catch {
    return raw;
  }
}
