import type { RawReply } from '../../core/trajectory/reasoning.ts';

const THINKING_FIELDS = ['reasoning_content', 'reasoning'] as const;

/**
 * What has to go back to the provider with an assistant message in the next call, verbatim. A class
 * only so that the opaque `AssistantMessage.replay` can be told by `instanceof`.
 */
export class Replay {
  /** Thinking, under the names under which it came. */
  readonly thinking: Record<string, unknown>;
  /** The text with its thinking tags, where it had some. */
  readonly content: string | undefined;
  /** `extra_content` of each tool call in order: Gemini's signatures. */
  readonly callExtras: readonly unknown[];

  constructor(reply: RawReply, content: string | undefined, callExtras: readonly unknown[]) {
    this.thinking = thinkingFields(reply);
    this.content = content;
    this.callExtras = callExtras;
  }
}

function thinkingFields(reply: RawReply): Record<string, unknown> {
  const details = reply.reasoning_details;
  // The details hold the text and its signatures; the plain fields beside them only repeat it.
  if (Array.isArray(details) && details.length > 0) return { reasoning_details: details };
  const fields: Record<string, unknown> = {};
  for (const name of THINKING_FIELDS) {
    if (typeof reply[name] === 'string' && reply[name] !== '') fields[name] = reply[name];
  }
  return fields;
}
