/** A bounded number of places, given out first come first served. */
export interface Slots {
  /** Runs `work` in a place of its own, waiting for one first. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when a place is free and nobody waits for it. */
  free(): Promise<void>;
}

/** `size` places; shared by all batches, so that a small batch leaves no worker idle. */
export function createSlots(size: number): Slots {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const watchers: (() => void)[] = [];

  function release() {
    const next = waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    taken -= 1;
    for (const watcher of watchers.splice(0)) watcher();
  }

  return {
    async run(work) {
      if (taken < size) taken += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        release();
      }
    },
    async free() {
      while (taken >= size) await new Promise<void>((resolve) => watchers.push(resolve));
    },
  };
}
