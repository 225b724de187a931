import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';

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
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Opens `path` for appending, from its present end. Texts that wait together share one write and
 * one `fdatasync`, so that many prompts ending at once cost the disk little more than one.
 */
export async function openAppendLog(path: string): Promise<AppendLog> {
  const handle = await open(path, 'a');
  let size = (await handle.stat()).size;
  if (size === 0) await syncFolder(dirname(path));
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
    } catch (error) {
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

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    written += (await handle.write(bytes, written)).bytesWritten;
  }
}
