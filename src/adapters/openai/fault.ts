import type { ModelFailure } from '../../core/ports/model.ts';
import type { ProviderWords } from './provider-words.ts';

/** A try that gave no reply, and what may be done about it. */
export interface Fault {
  /** What the call ends as if this was its last try. */
  outcome: ModelFailure;
  /**
   * final: the same body will be refused again; passing: try again after a backoff; throttled: all
   * calls of this model have to pause.
   */
  kind: 'final' | 'passing' | 'throttled';
  /** HTTP status, or the code of an error inside a 200; 0 without an answer. */
  status: number;
  /** The provider's words on one line, redacted, not yet cut. */
  words: string;
  /** Milliseconds that the provider asked to wait. */
  retryAfterMs?: number | undefined;
}

type Verdict = Pick<Fault, 'outcome' | 'kind'>;

const final = (outcome: ModelFailure): Verdict => ({ outcome, kind: 'final' });
const PASSING: Verdict = { outcome: 'failed/model_error', kind: 'passing' };
const THROTTLED: Verdict = { outcome: 'failed/rate_limited', kind: 'throttled' };

/** Decides by status and words what a refusal means; `words` are redacted already. */
export function judgeRefusal(status: number, words: ProviderWords, asksToWait: boolean): Verdict {
  if (status === 401) return final('failed/auth');
  if (status === 402) return judgeUnpaid(words);
  if (status === 429) return judgeThrottle(words, asksToWait);
  if (status === 403) return judgeForbidden(words);
  if (speaksOfContext(status, words)) return final('partial/context');
  if (status >= 500 || status === 408 || status === 409 || status === 425) return PASSING;
  if (speaksOfContent(words)) return final('failed/content_filter');
  if (speaksOfCredits(words)) return final('failed/credits');
  return final('failed/model_error');
}

/** The same for an error inside a 200 whose code is no HTTP status. */
export function judgeUnnumbered(words: ProviderWords): Verdict {
  if (/rate_?limit/.test(words.codes)) return THROTTLED;
  if (speaksOfContext(200, words)) return final('partial/context');
  if (speaksOfContent(words)) return final('failed/content_filter');
  return speaksOfCredits(words) ? final('failed/credits') : PASSING;
}

function judgeUnpaid(words: ProviderWords): Verdict {
  // OpenRouter's cap on requests that run at once: it passes as they end, with credits left.
  return words.codes.includes('in_flight_budget') ? THROTTLED : final('failed/credits');
}

function judgeForbidden(words: ProviderWords): Verdict {
  if (speaksOfContent(words)) return final('failed/content_filter');
  return final(speaksOfCredits(words) ? 'failed/credits' : 'failed/auth');
}

function judgeThrottle(words: ProviderWords, asksToWait: boolean): Verdict {
  if (CREDIT_CODES.test(words.codes)) return final('failed/credits');
  // Plain rate limits advertise paid plans too, but say when to come back.
  const comesBack = asksToWait || /rate_limit/.test(words.codes) || RETRY_HINT.test(words.message);
  return !comesBack && speaksOfCredits(words) ? final('failed/credits') : THROTTLED;
}

const RETRY_HINT = /(?:try again|retry) (?:in|after)|per (?:minute|second|hour|day)|rate limit/i;

const CREDIT_CODES =
  /insufficient_(?:quota|credits?|balance|funds)|billing|payment|quota_exceeded|key_limit|_budget\b/;
const CREDIT_WORDS =
  /insufficient[ _](?:quota|credits?|balance|funds)|(?:out of|no|more|buy|purchase|enough) credits|credit balance|credit limit|key limit exceeded|budget (?:limit )?exceeded|exceeded your current quota|billing|payment required|spend(?:ing)? limit/i;

function speaksOfCredits(words: ProviderWords): boolean {
  return CREDIT_CODES.test(words.codes) || CREDIT_WORDS.test(words.message);
}

const CONTENT_CODES =
  /content_?filter|content_policy|moderation|safety|prompt_blocked|responsibleai|flagged/;
const CONTENT_WORDS =
  /moderat(?:ion|ed)|flagged|content[ _-]?(?:policy|filter|management|violation)|usage polic|safety (?:system|filter|polic|reason)|inappropriate|violat\w* (?:\w+ ){0,4}polic|prohibited content|data_inspection|blocked by .{0,40}guardrail/i;

function speaksOfContent(words: ProviderWords): boolean {
  return CONTENT_CODES.test(words.codes) || CONTENT_WORDS.test(words.message);
}

const CONTEXT_WORDS =
  /context[ _-]?(?:length|window|size|limit)|maximum context|(?:prompt|input|messages?|conversation|request) (?:is |are |was )?too (?:long|large)|too many (?:input |prompt )?tokens|reduce (?:the|your) (?:length|prompt|messages?)|(?:prompt|input) (?:token|length)[^.]{0,60}exceed|exceed[^.]{0,60}(?:input|prompt) (?:token|length)|string_above_max_length/i;

function speaksOfContext(status: number, words: ProviderWords): boolean {
  if (/context_length|context_window|string_above_max_length/.test(words.codes)) return true;
  if (CONTEXT_WORDS.test(words.message)) return true;
  return status === 413 && /too (?:large|long)/i.test(words.message);
}
