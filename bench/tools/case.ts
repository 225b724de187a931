/** One call made with our tools and with Hermes' own, in one folder, in this order. */
export interface Case {
  tool: string;
  /** `$SESSION` stands for the last background process. */
  args: Record<string, unknown>;
  /** A command whose output belongs to what is compared: what the call left behind. */
  look?: string;
  /** Seconds to wait after the call. */
  pause?: number;
  /** Why ours differs; none where both have to do the same. */
  why?: string;
}

/** A reason that several cases have. */
export const SAFE_BYTES =
  'ours writes bytes that are no text as \\xNN: a NUL or a lone byte in a row breaks readers of the data set';
