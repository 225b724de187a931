import type { Trajectory } from '../trajectory/trajectory.ts';

/** Keeps the rows of batches. */
export interface TrajectoryStore {
  /** Adds the row to its batch, which is open from its first row on. Resolves when durable. */
  append(row: Trajectory): Promise<void>;
  /**
   * Writes the batch's final files, in plan order, and ends it. A batch without rows leaves no
   * file. Every row's ledger entry is durable by now.
   */
  close(batch: number): Promise<void>;
}
