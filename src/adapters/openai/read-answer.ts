import type { Clock } from '../../core/ports/clock.ts';
import type { ModelReply } from '../../core/ports/model.ts';
import type { ChatAnswer } from './chat-client.ts';
import { type Fault, judgeRefusal, judgeUnnumbered } from './fault.ts';
import { parseReply } from './parse-reply.ts';
import { MAX_LOOKED_AT, type ProviderWords, providerWords } from './provider-words.ts';
import { oneLine, type Redact } from './redact-secrets.ts';
import { retryAfter } from './retry-delay.ts';

export type ReadAnswer = { reply: ModelReply } | { fault: Fault };

/** Makes a reply or a fault of any answer; every word in the fault is redacted. Never throws. */
export function createReadAnswer(
  redact: Redact,
  clock: Clock,
): (answer: ChatAnswer, earlierIds: ReadonlySet<string>) => ReadAnswer {
  function passing(words: string, status: number): ReadAnswer {
    const said = redact(oneLine(words));
    return { fault: { outcome: 'failed/model_error', kind: 'passing', status, words: said } };
  }

  function refusal(status: number, error: unknown, retryAfterMs: number | undefined): ReadAnswer {
    const words = redactWords(providerWords(error), redact);
    const isNumbered = status >= 300;
    const verdict = isNumbered
      ? judgeRefusal(status, words, retryAfterMs !== undefined)
      : judgeUnnumbered(words);
    return { fault: { ...verdict, status, words: words.message, retryAfterMs } };
  }

  function body(text: string, earlierIds: ReadonlySet<string>): ReadAnswer {
    const parsed = parseReply(text, earlierIds);
    if (parsed.kind === 'reply') return { reply: parsed.reply };
    if (parsed.kind === 'error') return refusal(codeOf(parsed.error), parsed.error, undefined);
    return passing(`the answer is ${parsed.what}: ${text.slice(0, MAX_LOOKED_AT)}`, 200);
  }

  return (answer, earlierIds) => {
    switch (answer.kind) {
      case 'body':
        return body(answer.text, earlierIds);
      case 'refusal': {
        const waitMs = retryAfter(answer.headers, clock.now());
        return refusal(answer.status, answer.error, waitMs);
      }
      case 'unanswered':
        return passing(answer.why, 0);
      case 'oversized':
        return {
          fault: { outcome: 'failed/model_error', kind: 'final', status: 200, words: answer.why },
        };
    }
  };
}

/** The HTTP status that an error inside a 200 stands for, or 200 where it names none. */
function codeOf(error: unknown): number {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : 0;
  const status = Number(code);
  return Number.isInteger(status) && status >= 400 && status <= 599 ? status : 200;
}

function redactWords(words: ProviderWords, redact: Redact): ProviderWords {
  return { message: redact(words.message), codes: words.codes };
}
