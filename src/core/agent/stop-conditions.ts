import type { ModelReply } from '../ports/model.ts';
import type { Outcome } from '../trajectory/outcome.ts';

/** How a conversation ended. */
export interface Ending {
  outcome: Outcome;
  /** One sentence for people; "" for a plain answer. */
  reason: string;
}

/** What the rules below look at: the latest reply and the conversation so far. */
export interface Progress {
  reply: ModelReply;
  apiCalls: number;
  maxTurns: number;
  /** Names that are a tool somewhere, whether or not this prompt drew it. */
  validToolNames: ReadonlySet<string>;
}

export type StopCondition = (progress: Progress) => Ending | undefined;

/** A call of a tool that exists nowhere. The row will be discarded, so no further call is paid for. */
const calledUnknownTool: StopCondition = ({ reply, validToolNames }) => {
  const unknown = reply.message.toolCalls.find((call) => !validToolNames.has(call.name));
  return unknown === undefined
    ? undefined
    : {
        outcome: 'discarded/invalid_tool',
        reason: `the model called a tool that does not exist: ${unknown.name.slice(0, 100)}`,
      };
};

const answered: StopCondition = ({ reply }) => {
  if (reply.message.toolCalls.length > 0) return undefined;
  if (reply.finish === 'content_filter') {
    return { outcome: 'failed/content_filter', reason: 'the provider withheld the reply' };
  }
  if (reply.finish === 'length') {
    return { outcome: 'partial/length', reason: 'the reply was cut at its token limit' };
  }
  return { outcome: 'completed', reason: '' };
};

/** The rules that need no tool to have run, in the order in which they count. */
export const BEFORE_TOOLS: readonly StopCondition[] = [calledUnknownTool, answered];

const outOfTurns: StopCondition = ({ apiCalls, maxTurns }) =>
  apiCalls < maxTurns
    ? undefined
    : { outcome: 'partial/turns', reason: `no answer within ${maxTurns} turns` };

/** The rules after the tools of a turn have run. */
export const AFTER_TOOLS: readonly StopCondition[] = [outOfTurns];

/** The first rule that ends the conversation. */
export function firstEnding(
  rules: readonly StopCondition[],
  progress: Progress,
): Ending | undefined {
  for (const rule of rules) {
    const ending = rule(progress);
    if (ending !== undefined) return ending;
  }
  return undefined;
}
