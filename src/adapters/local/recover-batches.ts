import type { Ledger } from '../../core/ports/ledger.ts';
import { ledgerEntryOf } from '../../core/run/ledger-entry.ts';
import type { RunState } from '../../core/run/run-state.ts';
import { type Trajectory, trajectorySchema } from '../../core/trajectory/trajectory.ts';
import { closeBatchFiles, type PlacedRow, placedRow } from './batch-files.ts';
import { dropTornTail, jsonLines } from './json-lines.ts';
import { batchNumbers, type RunFolder } from './run-folder.ts';

export interface Recovery {
  /** Batches that a process left open and that are closed now. */
  closed: number;
  /** Rows that were durable without their ledger entry: entered now, no model call. */
  adopted: number;
}

export interface RecoverDeps {
  ledger: Ledger;
  /** What the ledger says so far; adopted rows are added. */
  state: RunState;
  /** The pass that left the batches open. */
  pass: number;
}

/**
 * Puts in order what a process left that was killed: drops torn lines, enters rows that lack their
 * ledger entry, closes open batches. Can be killed and run again at any point.
 */
export async function recoverBatches(folder: RunFolder, deps: RecoverDeps): Promise<Recovery> {
  const { open } = await batchNumbers(folder);
  const recovery: Recovery = { closed: 0, adopted: 0 };
  for (const batch of open) {
    const path = folder.openBatch(batch);
    await dropTornTail(path);
    const rows: PlacedRow[] = [];
    for await (const { value, place } of jsonLines(path, trajectorySchema)) {
      recovery.adopted += await adopt(value, deps);
      rows.push(placedRow(value, place));
    }
    await closeBatchFiles(folder, batch, rows);
    recovery.closed += 1;
  }
  return recovery;
}

async function adopt(row: Trajectory, { ledger, state, pass }: RecoverDeps): Promise<0 | 1> {
  // Attempts of a prompt end one after another, so a lower number is in the ledger already.
  if (row.timing.attempt <= state.attempts(row.metadata.prompt_id)) return 0;
  const entry = ledgerEntryOf(row, pass, true);
  await ledger.append(entry);
  state.add(entry);
  return 1;
}
