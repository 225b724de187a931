/** Why a run stops before its prompts are all ended. */
export type StopReason =
  | { kind: 'interrupted' }
  /** The provider refuses key or credit: its words. */
  | { kind: 'refused'; reason: string }
  /** The run's own budget is used up. */
  | { kind: 'budget'; reason: string }
  /** Results can't be stored. */
  | { kind: 'storage'; reason: string };

/** One switch for a whole run: once on, nothing starts and prompts in flight are handed back. */
export interface RunStop {
  /** Aborted once the run is stopping. */
  readonly handBack: AbortSignal;
  /** The first reason given; undefined while the run goes on. */
  readonly reason: StopReason | undefined;
  request(reason: StopReason): void;
  /** Stops because of an error in storing. */
  fail(error: unknown): void;
}

export function createRunStop(): RunStop {
  const controller = new AbortController();
  let first: StopReason | undefined;
  const stop: RunStop = {
    handBack: controller.signal,
    get reason() {
      return first;
    },
    request(reason) {
      first ??= reason;
      controller.abort();
    },
    fail(error) {
      const reason = error instanceof Error ? error.message : String(error);
      stop.request({ kind: 'storage', reason });
    },
  };
  return stop;
}
