import { writeFileAtomically } from '../../adapters/local/write-file-atomically.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { CheckpointBuilder } from '../../core/run/checkpoint.ts';

/** Share of its time that a run may spend on checkpoints: one part in twenty. */
const REST_PER_WRITE = 20;
/** A checkpoint grows with the run: what all of them write must not grow with its square. */
const BYTES_A_MILLISECOND = 20;

export interface CheckpointWriter {
  /**
   * Writes the checkpoint unless the last write is younger than 20 times the time it took, or than
   * its size at 20 kB a second.
   */
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
        const text = `${JSON.stringify(checkpoint.build(new Date(clock.now()).toISOString()))}\n`;
        await writeFileAtomically(path, text);
        const now = clock.monotonic();
        notBefore =
          now + Math.max(REST_PER_WRITE * (now - from), text.length / BYTES_A_MILLISECOND);
      } finally {
        writing = false;
      }
    },
  };
}
