import type { PromptReference } from '../cloud/batch-record.ts';
import type { StoredSample } from '../cloud/samples-to-adopt.ts';
import type { DatasetRow } from '../dataset/dataset-row.ts';
import type { RunFile } from '../run/manifest.ts';
import type { PrivateSettings } from '../run/private-settings.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';

/** Objects of one run's bucket that a worker reads and writes. Errors name the key. */
export interface WorkerObjects {
  runFile(): Promise<RunFile>;
  /** Empty where the run has none. */
  privateSettings(): Promise<PrivateSettings>;
  /** The dataset row of a prompt; rejects where it is another one's. */
  row(prompt: PromptReference, inputOfPass: number): Promise<DatasetRow>;
  /** Stored rows of a batch, whatever became of their launches. */
  samples(batch: number): Promise<StoredSample[]>;
  sample(batch: number, of: StoredSample): Promise<{ key: string; row: Trajectory }>;
  /** Resolves, to its key, when the row is durable. */
  putSample(batch: number, of: StoredSample, row: Trajectory): Promise<string>;
}
