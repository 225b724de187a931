import type { RunObserver } from '../../core/ports/observer.ts';

/** One observer that tells several, in order. */
export function fanOut(observers: readonly Partial<RunObserver>[]): RunObserver {
  return {
    batchStarted(...event) {
      for (const observer of observers) observer.batchStarted?.(...event);
    },
    attemptStarted(...event) {
      for (const observer of observers) observer.attemptStarted?.(...event);
    },
    replied(...event) {
      for (const observer of observers) observer.replied?.(...event);
    },
    toolReturned(...event) {
      for (const observer of observers) observer.toolReturned?.(...event);
    },
    attemptEnded(...event) {
      for (const observer of observers) observer.attemptEnded?.(...event);
    },
    handedBack(...event) {
      for (const observer of observers) observer.handedBack?.(...event);
    },
    batchClosed(...event) {
      for (const observer of observers) observer.batchClosed?.(...event);
    },
  };
}
