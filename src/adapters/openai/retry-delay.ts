/** Tries of one call that passing faults may use up. */
export const MAX_TRIES = 5;

/** Longest wait that a provider's `Retry-After` is granted, in milliseconds. */
export const MAX_RETRY_AFTER_MS = 120_000;

const BASE_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;

/** Upper bound of the wait after the `failures`-th failure in a row, from 1; milliseconds. */
export function backoffCeiling(failures: number): number {
  return Math.min(MAX_BACKOFF_MS, BASE_MS * 2 ** Math.min(failures - 1, 20));
}

/**
 * Milliseconds that the headers ask to wait, capped, or undefined where they ask for nothing
 * readable. `retry-after-ms` is exact and wins; `retry-after` is seconds or an HTTP date.
 */
export function retryAfter(headers: Headers, nowMs: number): number | undefined {
  const asked =
    numeric(headers.get('retry-after-ms')) ?? seconds(headers.get('retry-after'), nowMs);
  if (asked === undefined) return undefined;
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(0, asked));
}

function seconds(text: string | null, nowMs: number): number | undefined {
  const plain = numeric(text);
  if (plain !== undefined) return plain * 1_000;
  const date = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? undefined : date - nowMs;
}

function numeric(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
