import { type Outcome, outcomeClass } from '../trajectory/outcome.ts';

export interface BatchStats {
  processed: number;
  /** Prompts of this batch that were done before; Hermes' field, always 0 here. */
  skipped: number;
  discarded_no_reasoning: number;
}

/** `checkpoint.json`, readable by Hermes. */
export interface Checkpoint {
  run_name: string;
  /** Indices in the latest dataset of the rows all of whose samples are done, in order. */
  completed_prompts: number[];
  batch_stats: Record<string, BatchStats>;
  last_updated: string;
}

/** Keeps the checkpoint of a run up to date, result by result. */
export interface CheckpointBuilder {
  /** A prompt of the latest dataset that is not done. */
  owe(promptIndex: number): void;
  /** A prompt of the latest dataset that was owed is done. */
  settle(promptIndex: number): void;
  /** An attempt that is recorded, of whichever pass. */
  addAttempt(batch: number, outcome: Outcome): void;
  build(lastUpdated: string): Checkpoint;
}

/** Holds one small number for each row, and the statistics of each batch. */
export function createCheckpoint(runName: string, rows: number): CheckpointBuilder {
  const owed = new Uint32Array(rows);
  const batches: Record<string, BatchStats> = {};
  return {
    owe(promptIndex) {
      owed[promptIndex] = (owed[promptIndex] ?? 0) + 1;
    },
    settle(promptIndex) {
      owed[promptIndex] = Math.max(0, (owed[promptIndex] ?? 0) - 1);
    },
    addAttempt(batch, outcome) {
      const key = String(batch);
      const of = batches[key] ?? { processed: 0, skipped: 0, discarded_no_reasoning: 0 };
      batches[key] = of;
      if (outcomeClass(outcome) !== 'failed') of.processed += 1;
      if (outcome === 'discarded/no_reasoning') of.discarded_no_reasoning += 1;
    },
    build(lastUpdated) {
      const completed: number[] = [];
      for (let index = 0; index < rows; index += 1) if (owed[index] === 0) completed.push(index);
      return {
        run_name: runName,
        completed_prompts: completed,
        batch_stats: batches,
        last_updated: lastUpdated,
      };
    },
  };
}
