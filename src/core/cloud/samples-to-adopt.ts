import type { AttemptRecord } from './attempt-record.ts';

/** A row in the bucket, by its key. */
export interface StoredSample {
  position: number;
  launch: number;
}

/**
 * Rows that were stored by a launch that died before it could commit their attempts, in the order of
 * their launches.
 */
export function samplesToAdopt(
  samples: readonly StoredSample[],
  attempts: readonly AttemptRecord[],
): StoredSample[] {
  const committed = new Set(attempts.map(({ position, launch }) => `${position}-${launch}`));
  return samples
    .filter(({ position, launch }) => !committed.has(`${position}-${launch}`))
    .sort((a, b) => a.launch - b.launch || a.position - b.position);
}
