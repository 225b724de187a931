import { closeSync, fdatasync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import type { BatchPart, JoinedFile, RunFiles } from '../../core/ports/run-files.ts';
import type { BatchKind } from '../../core/run/batch-kind.ts';
import { trajectorySchema } from '../../core/trajectory/trajectory.ts';
import { syncFolder } from './append-log.ts';
import { jsonLines, StoredFileError } from './json-lines.ts';
import type { RunFolder } from './run-folder.ts';
import { storageError } from './storage-error.ts';
import { writeFileAtomically } from './write-file-atomically.ts';

/** Written while it is still in the processor's cache: larger ones took three times as long. */
const CHUNK_BYTES = 256 << 10;
/** After which the disk is told to begin, so that the sync at the end has little left to wait for. */
const SYNC_BYTES = 128 << 20;
const LF = 0x0a;
const sync = promisify(fdatasync);

/** The run's files in its folder. */
export function createLocalRunFiles(folder: RunFolder): RunFiles {
  return {
    write: (name, text) => writeFileAtomically(folder.file(name), text),
    async joinBatches(name, kind, parts, keepRow) {
      const path = folder.file(name);
      const beside = `${path}.tmp`;
      // Synchronous calls: ten thousand small files would spend their time in the thread pool's
      // queue, and nothing else runs during a merge.
      const to = openToJoin(path, beside);
      try {
        const joined = await joinAll(folder, kind, parts, to, keepRow);
        await sync(to);
        renameSync(beside, path);
        await syncFolder(folder.path);
        return joined;
      } catch (error) {
        rmSync(beside, { force: true });
        throw storageError(path, error);
      } finally {
        closeSync(to);
      }
    },
  };
}

function openToJoin(path: string, beside: string): number {
  try {
    return openSync(beside, 'w');
  } catch (error) {
    throw storageError(path, error);
  }
}

async function joinAll(
  folder: RunFolder,
  kind: BatchKind,
  parts: readonly BatchPart[],
  to: number,
  keepRow?: (promptId: string, attempt: number) => boolean,
): Promise<JoinedFile> {
  const joined: JoinedFile = { rows: 0, bytes: 0 };
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let unsynced = 0;
  let syncing: Promise<void> = Promise.resolve();
  try {
    for (const { batch, rows } of parts) {
      const path = folder.batch(kind, batch);
      const part =
        keepRow === undefined ? copyFile(path, to, buffer) : await copySome(path, to, keepRow);
      if (part.seen !== rows) throw rowsMissing(path, rows, part.seen);
      joined.rows += part.rows;
      joined.bytes += part.bytes;
      unsynced += part.bytes;
      if (unsynced < SYNC_BYTES) continue;
      unsynced = 0;
      await syncing;
      syncing = sync(to);
      // Told to whoever waits for it next.
      syncing.catch(() => undefined);
    }
  } finally {
    // The file is closed behind this.
    await syncing;
  }
  return joined;
}

interface Copied extends JoinedFile {
  /** Rows of the source, taken or not. */
  seen: number;
}

function copyFile(path: string, to: number, buffer: Buffer): Copied {
  const from = openExisting(path);
  if (from === undefined) return { rows: 0, bytes: 0, seen: 0 };
  const copied: Copied = { rows: 0, bytes: 0, seen: 0 };
  try {
    for (;;) {
      const length = readSync(from, buffer, 0, buffer.length, null);
      if (length === 0) break;
      const chunk = buffer.subarray(0, length);
      writeAll(to, chunk);
      copied.bytes += length;
      copied.seen += countLines(chunk);
    }
  } finally {
    closeSync(from);
  }
  copied.rows = copied.seen;
  return copied;
}

async function copySome(
  path: string,
  to: number,
  keepRow: (promptId: string, attempt: number) => boolean,
): Promise<Copied> {
  const copied: Copied = { rows: 0, bytes: 0, seen: 0 };
  for await (const { value, bytes } of jsonLines(path, rowKeySchema)) {
    copied.seen += 1;
    if (!keepRow(value.metadata.prompt_id, value.timing.attempt)) continue;
    writeAll(to, bytes);
    copied.rows += 1;
    copied.bytes += bytes.length;
  }
  return copied;
}

const rowKeySchema = trajectorySchema.pick({ metadata: true, timing: true });

function openExisting(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw storageError(path, error);
  }
}

function countLines(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) lines += 1;
  return lines;
}

function writeAll(to: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(to, bytes, done);
}

function rowsMissing(path: string, expected: number, found: number): StoredFileError {
  return new StoredFileError(
    `${path} has ${found} rows, but the ledger has ${expected} of them: rows were lost or the file was edited. Put the file back from a copy; nothing was merged.`,
  );
}
