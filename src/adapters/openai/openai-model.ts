import type { Clock } from '../../core/ports/clock.ts';
import {
  type Model,
  ModelError,
  type ModelReply,
  type ModelRequest,
} from '../../core/ports/model.ts';
import { createChatClient } from './chat-client.ts';
import { createCooldown } from './cooldown.ts';
import type { Fault } from './fault.ts';
import type { OpenAiModelOptions } from './openai-options.ts';
import { NO_QUIRKS, type Quirks, quirkComplainedOf } from './quirks.ts';
import { createReadAnswer, type ReadAnswer } from './read-answer.ts';
import { createRedact } from './redact-secrets.ts';
import { buildRequestBody, hiddenMessages, type RequestBody } from './request-body.ts';
import { backoffCeiling, MAX_TRIES } from './retry-delay.ts';
import { sleepUnlessAborted } from './sleep-unless-aborted.ts';

/** Characters of a provider's words that a `ModelError` shows. */
const MAX_WORDS = 500;
/** Refusals for being too fast that one call takes while others get through. */
const MAX_THROTTLED = 20;

export interface OpenAiModelDeps {
  clock: Clock;
  /** Uniform in [0, 1): jitter of waits. */
  random(): number;
}

/**
 * A model behind any OpenAI-compatible URL. Passing faults are tried again up to 5 times in all;
 * refusals for being too fast pause all calls of this model together. Throws `ModelError` without
 * the API key, ephemeral prompt and prefill in its message, and `TypeError` here for a base URL or
 * a key that cannot be sent.
 */
export function createOpenAiModel(
  options: OpenAiModelOptions,
  deps: OpenAiModelDeps,
): Model & { close(): Promise<void> } {
  assertSendable(options);
  const client = createChatClient(options);
  const cooldown = createCooldown(deps, options.maxConnections);
  const readAnswer = createReadAnswer(createRedact(secretsOf(options)), deps.clock);
  let quirks: Quirks = NO_QUIRKS;

  async function complete(request: ModelRequest): Promise<ModelReply> {
    const failures = { passing: 0, throttled: 0 };
    const idsBefore = callIds(request);
    const signals = [request.signal, ...(request.handBack === undefined ? [] : [request.handBack])];
    for (;;) {
      await cooldown.enter(...signals);
      const read = await attempt(request, idsBefore).finally(cooldown.leave);
      if (read === 'adapted') continue;
      if ('reply' in read) return read.reply;
      await pauseOrThrow(read.fault, failures, signals);
    }
  }

  /** One request, and what all calls learn from its answer. */
  async function attempt(
    request: ModelRequest,
    idsBefore: ReadonlySet<string>,
  ): Promise<ReadAnswer | 'adapted'> {
    const sentAt = deps.clock.monotonic();
    const used = quirks;
    const body = buildRequestBody(request, options, used);
    const read = readAnswer(await client.post(body.json, request.signal), idsBefore);
    if ('reply' in read) cooldown.answered();
    else if (read.fault.kind === 'throttled') cooldown.refused(sentAt, read.fault.retryAfterMs);
    else if (adapt(read.fault, body, used)) return 'adapted';
    return read;
  }

  function adapt(fault: Fault, body: RequestBody, used: Quirks): boolean {
    const quirk = quirkComplainedOf(fault.status, fault.words, body.traits, used);
    if (quirk === undefined) return false;
    quirks = { ...quirks, [quirk]: true };
    return true;
  }

  async function pauseOrThrow(
    fault: Fault,
    failures: { passing: number; throttled: number },
    signals: readonly AbortSignal[],
  ): Promise<void> {
    if (fault.kind === 'throttled') {
      failures.throttled += 1;
      if (isHopeless(failures.throttled, cooldown.bursts())) throw modelError(fault);
      return;
    }
    failures.passing += 1;
    if (fault.kind === 'final' || failures.passing >= MAX_TRIES) throw modelError(fault);
    const jittered = deps.random() * backoffCeiling(failures.passing);
    await sleepUnlessAborted(deps.clock, fault.retryAfterMs ?? jittered, signals);
  }

  return { complete, close: () => client.close() };
}

/** A call gives up only where nobody got through meanwhile, or where it alone never does. */
function isHopeless(throttled: number, bursts: number): boolean {
  return (throttled >= MAX_TRIES && bursts >= MAX_TRIES) || throttled >= MAX_THROTTLED;
}

function modelError(fault: Fault): ModelError {
  const words = fault.words === '' ? 'no explanation given' : fault.words;
  const said = words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS).toWellFormed()}…` : words;
  const where = fault.status === 0 ? 'no answer' : `HTTP ${fault.status}`;
  return new ModelError(`${where}: ${said}`, fault.outcome, fault.status);
}

function callIds(request: ModelRequest): Set<string> {
  const ids = new Set<string>();
  for (const message of request.messages) {
    if (message.role === 'assistant') for (const call of message.toolCalls) ids.add(call.id);
  }
  return ids;
}

function secretsOf(options: OpenAiModelOptions): string[] {
  const hidden = hiddenMessages(options).map((message) => message.content);
  return options.apiKey === undefined ? hidden : [options.apiKey, ...hidden];
}

function assertSendable(options: OpenAiModelOptions): void {
  if (!/^https?:$/.test(new URL(options.baseUrl).protocol)) {
    throw new TypeError(`baseUrl: expected an http or https URL, got ${options.baseUrl}`);
  }
  if (options.apiKey !== undefined && !/^[\x21-\x7e]+$/.test(options.apiKey)) {
    throw new TypeError('apiKey: expected visible ASCII characters, got others or nothing');
  }
}
