import { writeFileAtomically } from '../../adapters/local/write-file-atomically.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { CheckpointBuilder } from '../../core/run/checkpoint.ts';

/** Share of its time that a run may spend on checkpoints: one part in twenty. */
const REST_PER_WRITE = 20;

export interface CheckpointWriter {
  /** Writes the checkpoint unless the last write is younger than 20 times the time it took. */
  writeIfDue(): Promise<void>;
}

/** Writes `checkpoint.json` at the ends of batches, at a cost in proportion to the run. */
export function createCheckpointWriter(
  path: string,
  checkpoint: CheckpointBuilder,
  clock: Clock,
): CheckpointWriter {
  let notBefore = 0;
  let writing = false;
  return {
    async writeIfDue() {
      const from = clock.monotonic();
      if (writing || from < notBefore) return;
      writing = true;
      try {
        const content = checkpoint.build(new Date(clock.now()).toISOString());
        await writeFileAtomically(path, `${JSON.stringify(content)}\n`);
      } finally {
        writing = false;
        const now = clock.monotonic();
        notBefore = now + REST_PER_WRITE * (now - from);
      }
    },
  };
}
