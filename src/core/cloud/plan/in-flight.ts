/** Work that goes on at once, up to a limit. */
export interface InFlight {
  /** Resolves when there is room for it and it has begun. Throws what any of the work threw. */
  add(work: () => Promise<unknown>): Promise<void>;
  /** Resolves when all that was begun has ended. Throws what any of it threw. */
  drain(): Promise<void>;
}

export function createInFlight(limit: number): InFlight {
  const running = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;

  function throwFailure(): void {
    if (failure !== undefined) throw failure.error;
  }

  return {
    async add(work) {
      while (running.size >= limit) await Promise.race(running);
      throwFailure();
      const of: Promise<void> = work()
        .then(
          () => undefined,
          (error: unknown) => {
            failure ??= { error };
          },
        )
        .finally(() => running.delete(of));
      running.add(of);
    },
    async drain() {
      await Promise.all(running);
      throwFailure();
    },
  };
}
