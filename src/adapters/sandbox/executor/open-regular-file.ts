import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { SandboxFileError } from '../../../core/ports/sandbox.ts';

export interface OpenFile {
  handle: FileHandle;
  /** Bytes. */
  size: number;
}

/**
 * Opens a regular file for reading, never waiting for one that is none (a pipe, a device). Throws
 * `SandboxFileError` or the system's error. The caller closes the handle.
 */
export async function openRegularFile(real: string, shownPath: string): Promise<OpenFile> {
  const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stat = await handle.stat();
    if (stat.isDirectory()) throw new SandboxFileError(`${shownPath}: is a folder`, 'is_directory');
    if (!stat.isFile()) throw notAFile(shownPath);
    return { handle, size: stat.size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export function notAFile(shownPath: string): SandboxFileError {
  return new SandboxFileError(
    `${shownPath}: is no regular file but a pipe, socket or device`,
    'not_a_file',
  );
}

/** Up to `maxBytes` from the file's beginning. */
export async function readStart(file: OpenFile, maxBytes: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.min(file.size, maxBytes));
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await file.handle.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}
