/** Rows as workers stored them: of no use once their batches are merged. */
export interface OldSamples {
  /**
   * Deletes those of a run that were stored before `before` (milliseconds since 1970), at most `most`;
   * resolves to how many. Fewer than `most`: no such one is left.
   */
  deleteSamples(run: string, of: { before: number; most: number }): Promise<number>;
}
