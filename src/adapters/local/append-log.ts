import { fstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StorageError, storageError, storing } from './storage-error.ts';

/** Where an appended text stands in its file, in bytes. */
export interface Place {
  offset: number;
  length: number;
}

/** A file that only grows, by whole texts, each durable before its promise resolves. */
export interface AppendLog {
  /** Rejects, as every later call does, once a write has failed: the file's end is then unsure. */
  append(text: string): Promise<Place>;
  /** Waits for what is under way and closes the file. */
  close(): Promise<void>;
}

interface Waiting {
  bytes: Buffer;
  resolve(place: Place): void;
  reject(error: unknown): void;
}

/** Makes the folder's entries durable: a new or renamed file is lost with its folder's entry. */
export async function syncFolder(path: string): Promise<void> {
  await storing(path, async () => {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  });
}

/**
 * Opens `path` for appending, from its present end. Texts that wait together share one write and
 * one `fdatasync`, so that many prompts ending at once cost the disk little more than one.
 */
export async function openAppendLog(path: string): Promise<AppendLog> {
  const { handle, length } = await storing(path, () => openAtEnd(path));
  let size = length;
  let waiting: Waiting[] = [];
  let flushing: Promise<void> | undefined;
  let failure: { error: unknown } | undefined;

  async function flush() {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      await flushGroup(group);
    }
    flushing = undefined;
  }

  async function flushGroup(group: Waiting[]) {
    try {
      if (failure !== undefined) throw failure.error;
      await writeAll(handle, Buffer.concat(group.map((of) => of.bytes)));
      await handle.datasync();
      // Whoever removes the file would otherwise have the rest of the run written into nothing.
      if (fstatSync(handle.fd).nlink === 0) throw removed(path);
    } catch (cause) {
      const error = storageError(path, cause);
      failure ??= { error };
      // Half a line at the end would be taken for a torn one; best effort, the next start repairs.
      await handle.truncate(size).catch(() => undefined);
      for (const of of group) of.reject(error);
      return;
    }
    for (const of of group) {
      of.resolve({ offset: size, length: of.bytes.length });
      size += of.bytes.length;
    }
  }

  return {
    append(text) {
      return new Promise<Place>((resolve, reject) => {
        waiting.push({ bytes: Buffer.from(text), resolve, reject });
        flushing ??= flush();
      });
    },
    async close() {
      await flushing;
      await handle.close();
    },
  };
}

async function openAtEnd(path: string): Promise<{ handle: FileHandle; length: number }> {
  const handle = await open(path, 'a');
  try {
    const { size } = await handle.stat();
    if (size === 0) await syncFolder(dirname(path));
    return { handle, length: size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function removed(path: string): StorageError {
  return new StorageError(path, 'ENOENT', new Error('the file was removed while it was written'));
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    written += (await handle.write(bytes, written)).bytesWritten;
  }
}
