import type { Ledger } from '../../core/ports/ledger.ts';
import { ledgerEntrySchema } from '../../core/run/ledger-entry.ts';
import { openAppendLog } from './append-log.ts';
import { dropTornTail, jsonLines } from './json-lines.ts';

export interface LocalLedger extends Ledger {
  close(): Promise<void>;
}

/** Opens a ledger file, made if missing. A torn last line is dropped: it was no commit. */
export async function openLocalLedger(path: string): Promise<LocalLedger> {
  await dropTornTail(path);
  const log = await openAppendLog(path);
  let checkedBytes = 0;
  return {
    async append(entry) {
      await log.append(`${JSON.stringify(entry)}\n`);
    },
    async *entries() {
      const lines = jsonLines(path, ledgerEntrySchema, checkedBytes);
      for await (const { value, place } of lines) {
        checkedBytes = Math.max(checkedBytes, place.offset + place.length);
        yield value;
      }
    },
    close: () => log.close(),
  };
}
