const FIRST_MS = 10_000;
const MOST_MS = 900_000;

/** How long a batch waits before its next launch, after so many that nobody claimed. */
export function retryWaitMs(unclaimed: number): number {
  return Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(Math.max(0, unclaimed - 1), 20));
}
