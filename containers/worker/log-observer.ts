import type { AttemptRef, RunObserver } from '../../src/core/ports/observer.ts';

/** Logs where attempts begin and end; nothing of what is said in them. */
export function logObserver(
  log: (message: string, fields?: Record<string, unknown>) => void,
): RunObserver {
  const fieldsOf = ({ promptId, attempt }: AttemptRef) => ({ prompt_id: promptId, attempt });
  return {
    batchStarted: () => undefined,
    attemptStarted: (attempt) => log('attempt started', fieldsOf(attempt)),
    replied: () => undefined,
    toolReturned: () => undefined,
    attemptEnded(attempt, { outcome, reason, api_calls: calls }) {
      log('attempt ended', { ...fieldsOf(attempt), outcome, reason, api_calls: calls });
    },
    handedBack: (attempt) => log('handed back', fieldsOf(attempt)),
    batchClosed: () => undefined,
  };
}
