import { type Sandbox, SandboxFileError } from '../ports/sandbox.ts';

/** Largest file that the file tools take into memory, in bytes. */
const MAX_FILE = 10_000_000;
const BINARY_PROBE = 8_192;

export interface TextFile {
  bytes: Uint8Array;
  size: number;
}

/** A file that is text by its look (no NUL near its beginning). Throws `SandboxFileError`. */
export async function readTextFile(sandbox: Sandbox, path: string): Promise<TextFile> {
  const { bytes, size } = await sandbox.readFile(path, MAX_FILE);
  if (size > MAX_FILE) {
    throw new SandboxFileError(
      `${path}: expected at most ${MAX_FILE} bytes, got ${size}; use terminal with head, tail or sed -n for a part of it`,
      'io',
    );
  }
  if (bytes.subarray(0, BINARY_PROBE).includes(0)) {
    throw new SandboxFileError(
      `${path}: is a binary file of ${size} bytes; use terminal with file, xxd or strings`,
      'io',
    );
  }
  return { bytes, size };
}
