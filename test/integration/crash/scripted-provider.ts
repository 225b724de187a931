import { createHash } from 'node:crypto';
import {
  type ModelServer,
  type RecordedRequest,
  startModelServer,
} from '../../support/model-server.ts';
import {
  completion,
  refusal,
  type ScriptedReply,
  text,
  toolCall,
} from '../../support/model-server-replies.ts';

/** The text of the prompt that a request is about. */
export function promptOf({ body }: RecordedRequest): string {
  return body.messages.findLast((message) => message.role === 'user')?.content ?? '';
}

/** Whether the request asks for the answer after the prompt's tool call. */
export function isSecondTurn({ body }: RecordedRequest): boolean {
  return body.messages.some((message) => message.role === 'tool');
}

/**
 * A provider that reads its part in the prompt: `broken` never answers, `flaky` fails the whole
 * first attempt, `thoughtless` shows no reasoning; every other one calls the terminal and answers.
 * Told of each request before it answers.
 */
export async function startScriptedProvider(
  onRequest: (prompt: string, request: RecordedRequest) => void = () => undefined,
): Promise<ModelServer> {
  const seen = new Map<string, number>();
  return await startModelServer({
    reply(request) {
      const prompt = promptOf(request);
      onRequest(prompt, request);
      const number = (seen.get(prompt) ?? 0) + 1;
      seen.set(prompt, number);
      return { ...replyTo(prompt, number, request), delayMs: delayOf(request) };
    },
  });
}

/** 400 is final for its call, so that an attempt fails with one request. */
const BROKEN = refusal(400, 'this model is out of order');

function replyTo(prompt: string, number: number, request: RecordedRequest): ScriptedReply {
  if (prompt.includes('broken')) return BROKEN;
  if (prompt.includes('flaky') && number === 1) return BROKEN;
  if (prompt.includes('thoughtless')) return completion({ content: `No thought on ${prompt}` });
  if (isSecondTurn(request)) return text(`Done: ${prompt}`);
  return toolCall('terminal', { command: `echo "${prompt}" | tee note` });
}

/** 0 to 24 ms, by the request, so that no two prompts go in step. */
function delayOf(request: RecordedRequest): number {
  return createHash('sha256').update(request.text).digest().readUInt8(0) % 25;
}
