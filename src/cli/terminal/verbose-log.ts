import type { AttemptRef, RunObserver } from '../../core/ports/observer.ts';
import { formatCount, oneSafeLine } from './format.ts';

/** A log line for each step of each prompt; texts are cut to `prefixChars`. */
export function createVerboseLog(line: (text: string) => void, prefixChars: number): RunObserver {
  const who = (of: AttemptRef) =>
    `[prompt ${of.promptIndex}${of.sample > 0 ? ` sample ${of.sample}` : ''}${of.attempt > 1 ? ` attempt ${of.attempt}` : ''}]`;
  const show = (text: string) => oneSafeLine(text, prefixChars);
  return {
    batchStarted(batch, prompts, image) {
      line(`[batch ${batch}] ${prompts} prompts${image === '' ? '' : `, image ${image}`}`);
    },
    attemptStarted(of) {
      line(`${who(of)} starts in batch ${of.batch}`);
    },
    replied(of, message, usage) {
      if (message.reasoning !== '') line(`${who(of)} thinks: ${show(message.reasoning)}`);
      if (message.content !== '') line(`${who(of)} says: ${show(message.content)}`);
      for (const call of message.toolCalls) {
        line(`${who(of)} calls ${show(call.name)} ${show(call.arguments)}`);
      }
      line(`${who(of)} ${formatCount(usage.total_tokens)} tokens`);
    },
    toolReturned(of, call, result) {
      line(`${who(of)} ${show(call.name)} returned ${show(result)}`);
    },
    attemptEnded(of, row, final) {
      const reason = row.reason === '' ? '' : `: ${oneSafeLine(row.reason, 500)}`;
      line(`${who(of)} ${row.outcome}${reason}${final ? '' : ', will be tried again'}`);
    },
    handedBack(of) {
      line(`${who(of)} handed back: a resume runs it again`);
    },
    batchClosed(batch) {
      line(`[batch ${batch}] closed`);
    },
  };
}
