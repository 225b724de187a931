import { runKeys } from '../../core/cloud/bucket-keys.ts';
import type { Ledger } from '../../core/ports/ledger.ts';
import { type LedgerEntry, ledgerEntrySchema } from '../../core/run/ledger-entry.ts';
import { type JoinDeps, joinObjects } from './join-objects.ts';
import { listNumbered } from './list-objects.ts';
import { objectLines, parseObjectLine } from './object-lines.ts';
import { objectChunks } from './read-object.ts';

/**
 * The ledger of a run: those of its merged batches by number, joined as `ledger.jsonl` first, so
 * that a hundred thousand small objects are read once.
 */
export async function openBucketLedger(
  runName: string,
  deps: JoinDeps,
): Promise<Pick<Ledger, 'entries'>> {
  const { bucket } = deps;
  const key = runKeys(runName).file('ledger.jsonl');
  const batches = await listNumbered(bucket, runKeys(runName).file('ledger/'));
  const sources = [...batches.values()].map((of) => ({ ...of, rows: undefined }));
  await joinObjects(key, sources, deps);
  let checked = 0;

  return {
    async *entries(): AsyncGenerator<LedgerEntry> {
      for await (const line of objectLines(key, objectChunks(bucket, key))) {
        // Checked by an earlier reading: this invocation holds the run's merge.
        const isChecked = line.number <= checked;
        yield isChecked
          ? (JSON.parse(line.bytes.toString('utf8')) as LedgerEntry)
          : parseObjectLine(key, line, ledgerEntrySchema);
        checked = Math.max(checked, line.number);
      }
    },
  };
}
