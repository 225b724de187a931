import type { StartRefusal } from '../../core/ports/fleet.ts';

const CAPACITY =
  /capacity is unavailable|RESOURCE:|limit on the number of (vCPUs|tasks)|concurrent(ly)? .*limit|insufficient|exceeded.*limit|LimitExceeded/i;
const THROTTLED = /throttl|rate exceeded|too many requests/i;
const DEFINITION =
  /task ?definition.*(inactive|not found|does not exist)|unable to find task definition/i;

/**
 * What RunTask said no with; undefined for an error after which a task may run all the same. With
 * `answer`, it is words of an answer, which is always a no.
 */
export function refusalOf(
  error: unknown,
  from: 'error' | 'answer' = 'error',
): { refused: StartRefusal; words: string } | undefined {
  const { name, message, status } = partsOf(error);
  const words = `${from === 'error' ? `${name}: ` : ''}${message}`.slice(0, 500);
  if (CAPACITY.test(words)) return { refused: 'capacity', words };
  if (THROTTLED.test(words)) return { refused: 'throttled', words };
  if (from === 'error' && (status === undefined || status < 400 || status >= 500)) return undefined;
  return { refused: DEFINITION.test(words) ? 'definition' : 'other', words };
}

function partsOf(error: unknown) {
  if (!(error instanceof Error)) return { name: '', message: String(error), status: undefined };
  const { $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  return { name: error.name, message: error.message, status: $metadata?.httpStatusCode };
}
