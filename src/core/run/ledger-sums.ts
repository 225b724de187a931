import type { Ledger } from '../ports/ledger.ts';
import type { BatchPart } from '../ports/run-files.ts';
import { BATCH_KINDS, type BatchKind, batchKind } from './batch-kind.ts';
import type { CheckpointBuilder } from './checkpoint.ts';
import type { LedgerEntry } from './ledger-entry.ts';
import type { RunState } from './run-state.ts';
import { createTally, type Tally, tallyAttempt, tallyPrompt } from './tally.ts';

/** What a merge takes from the ledger. */
export interface LedgerSums {
  tally: Tally;
  /** How many rows each batch has in its files, by kind, in order of N. */
  parts: Record<BatchKind, BatchPart[]>;
  batches: number;
  /** Time of the last result (ISO 8601); undefined without any. */
  lastAt: string | undefined;
  /** The same of each pass. */
  lastOfPass: ReadonlyMap<number, string>;
}

/** Sums up a ledger whose last attempts `state` knows, and tells the checkpoint of each entry. */
export async function sumLedger(
  ledger: Pick<Ledger, 'entries'>,
  state: RunState,
  checkpoint: Pick<CheckpointBuilder, 'addAttempt'>,
): Promise<LedgerSums> {
  const tally = createTally();
  const rows: Record<BatchKind, Map<number, number>> = {
    batch: new Map(),
    discarded: new Map(),
    failed: new Map(),
  };
  const batches = new Set<number>();
  const lastOfPass = new Map<number, string>();
  let lastAt: string | undefined;
  for await (const entry of ledger.entries()) {
    tallyAttempt(tally, entry);
    if (entry.timing.attempt === state.attempts(entry.prompt_id)) tallyPrompt(tally, entry);
    checkpoint.addAttempt(entry.batch, entry.outcome);
    const of = rows[batchKind(entry.outcome)];
    of.set(entry.batch, (of.get(entry.batch) ?? 0) + 1);
    batches.add(entry.batch);
    lastAt = later(lastAt, entry);
    lastOfPass.set(entry.pass, later(lastOfPass.get(entry.pass), entry));
  }
  const parts = Object.fromEntries(
    BATCH_KINDS.map((kind) => [kind, inOrder(rows[kind])]),
  ) as LedgerSums['parts'];
  return { tally, parts, batches: batches.size, lastAt, lastOfPass };
}

function later(than: string | undefined, { timing }: LedgerEntry): string {
  return than === undefined || timing.ended_at > than ? timing.ended_at : than;
}

/** By number, not by the text of the file name: 2 comes before 10. */
function inOrder(rows: ReadonlyMap<number, number>): BatchPart[] {
  return [...rows].map(([batch, of]) => ({ batch, rows: of })).sort((a, b) => a.batch - b.batch);
}
