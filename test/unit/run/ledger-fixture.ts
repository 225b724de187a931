import { createHash } from 'node:crypto';
import { type LedgerEntry, ledgerEntryOf } from '../../../src/core/run/ledger-entry.ts';
import type { Outcome } from '../../../src/core/trajectory/outcome.ts';
import { trajectoryRow } from '../trajectory/trajectory-row.ts';

export const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex');

/** A ledger entry of prompt `index`. */
export function entryOf(
  index: number,
  outcome: Outcome,
  attempt = 1,
  more: Partial<LedgerEntry> = {},
): LedgerEntry {
  const row = trajectoryRow(index, { outcome });
  const entry = ledgerEntryOf(row, 1, false);
  return { ...entry, ...more, timing: { ...entry.timing, attempt, ...more.timing } };
}

/** The items one after another, as a ledger or a dataset gives them. */
export async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
