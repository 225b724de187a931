import type { LedgerEntry } from '../run/ledger-entry.ts';

/** The append-only record of every attempt. An entry in it is the commit of its attempt. */
export interface Ledger {
  /** Resolves when the entry is durable. */
  append(entry: LedgerEntry): Promise<void>;
  /** Every entry in the order of its commit. */
  entries(): AsyncIterable<LedgerEntry>;
}
