/** Time, as the core sees it. */
export interface Clock {
  /** Wall time in milliseconds since 1970; may step back. For timestamps only. */
  now(): number;
  /** Milliseconds that never step back. For durations and limits. */
  monotonic(): number;
  /** Resolves after `milliseconds`, or as soon as `signal` aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}
