import type { RunRecord } from './run-record.ts';

/** States of a run in which its files are merged; a paused run stays paused. */
export const MERGED_FROM = ['running', 'cancelling', 'paused'] as const;
export type MergeFrom = (typeof MERGED_FROM)[number];

/** Longer than a function may run: an invocation that has ended can't hold a merge for good. */
export const MERGE_LEASE_MS = 16 * 60_000;

/** Whether the run's files are to be made now, and from which state; undefined where not. */
export function dueMerge(run: RunRecord, now: number): MergeFrom | undefined {
  if (run.merge_lease_until > now) return undefined;
  switch (run.state) {
    case 'running':
    case 'cancelling':
      return run.batches_merged >= run.batches_total ? run.state : undefined;
    case 'merging':
      // The invocation that began has died.
      return run.merging_from ?? 'running';
    case 'paused':
      return 'paused';
    default:
      return undefined;
  }
}
