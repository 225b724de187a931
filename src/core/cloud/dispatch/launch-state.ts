import type { RunRecord } from '../run-record.ts';

/** Where the launches of this invocation stand. */
export interface LaunchState {
  runs: Map<string, RunRecord>;
  /** Launches of the stack. */
  active: number;
  /** Whoever started tasks said that there is no room now. */
  isRefused: boolean;
}
