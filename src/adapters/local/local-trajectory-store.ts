import type { TrajectoryStore } from '../../core/ports/trajectory-store.ts';
import { type Trajectory, trajectoryLine } from '../../core/trajectory/trajectory.ts';
import { type AppendLog, openAppendLog } from './append-log.ts';
import { closeBatchFiles, type PlacedRow, placedRow } from './batch-files.ts';
import type { RunFolder } from './run-folder.ts';

interface OpenBatch {
  log: Promise<AppendLog>;
  rows: PlacedRow[];
}

/** Rows in `batch_N.open.jsonl` while batch N is open, in its final files afterwards. */
export function createLocalTrajectoryStore(folder: RunFolder): TrajectoryStore {
  const batches = new Map<number, OpenBatch>();

  function openBatch(batch: number): OpenBatch {
    const known = batches.get(batch);
    if (known !== undefined) return known;
    const opened = { log: openAppendLog(folder.openBatch(batch)), rows: [] };
    batches.set(batch, opened);
    return opened;
  }

  return {
    async append(row: Trajectory) {
      const batch = openBatch(row.metadata.batch_num);
      const log = await batch.log;
      const place = await log.append(`${trajectoryLine(row)}\n`);
      batch.rows.push(placedRow(row, place));
    },
    async close(number) {
      const batch = batches.get(number);
      if (batch === undefined) return;
      batches.delete(number);
      await (await batch.log).close();
      await closeBatchFiles(folder, number, batch.rows);
    },
  };
}
