import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { z } from 'zod';
import type { Place } from './append-log.ts';
import { storageError } from './storage-error.ts';

/** A stored file is not what Talaria wrote: its name, the line, what is wrong. */
export class StoredFileError extends Error {
  override readonly name = 'StoredFileError';
}

const CHUNK = 1 << 20;
const LF = 0x0a;

/**
 * Cuts off what stands behind the last newline: a line that a killed process could not finish. It
 * was never committed. Resolves to the bytes that went; a missing file is left missing.
 */
export async function dropTornTail(path: string): Promise<number> {
  const handle = await open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw storageError(path, error);
  });
  if (handle === undefined) return 0;
  try {
    const { size } = await handle.stat();
    let end = size;
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK, size));
    while (end > 0) {
      const length = Math.min(buffer.length, end);
      await handle.read(buffer, 0, length, end - length);
      const newline = buffer.subarray(0, length).lastIndexOf(LF);
      if (newline !== -1) {
        end = end - length + newline + 1;
        break;
      }
      end -= length;
    }
    if (end < size) {
      await handle.truncate(end);
      await handle.datasync();
    }
    return size - end;
  } finally {
    await handle.close();
  }
}

/**
 * The values of a JSONL file that Talaria wrote, checked, with their places and bytes. A missing file has
 * none. The lines before `checkedBytes` were checked by an earlier reading of this process, which is the
 * only one to write the file: they are parsed and no more. Throws `StoredFileError`.
 */
export async function* jsonLines<T>(
  path: string,
  schema: z.ZodType<T>,
  checkedBytes = 0,
): AsyncGenerator<{ value: T; place: Place; bytes: Buffer }> {
  let offset = 0;
  let lineNumber = 0;
  for await (const lines of rawLines(path)) {
    for (const line of lines) {
      lineNumber += 1;
      const place = { offset, length: line.length };
      offset += place.length;
      const value =
        offset <= checkedBytes
          ? (JSON.parse(line.toString('utf8')) as T)
          : parseLine(line, schema, `${path}, line ${lineNumber}`);
      yield { value, place, bytes: line };
    }
  }
}

function parseLine<T>(line: Buffer, schema: z.ZodType<T>, where: string): T {
  let value: unknown;
  try {
    value = JSON.parse(line.toString('utf8'));
  } catch (error) {
    throw new StoredFileError(`${where}: not JSON, though Talaria wrote it; was it edited?`, {
      cause: error,
    });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new StoredFileError(
    `${where}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not as expected'}`,
  );
}

/** Lines with the LF that ends them, by the chunk; a last line without one is left out. */
async function* rawLines(path: string): AsyncGenerator<Buffer[]> {
  let rest: Buffer[] = [];
  try {
    for await (const part of createReadStream(path, { highWaterMark: CHUNK })) {
      const chunk = part as Buffer;
      const lines: Buffer[] = [];
      let start = 0;
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
        const line = chunk.subarray(start, end + 1);
        lines.push(rest.length === 0 ? line : Buffer.concat([...rest, line]));
        rest = [];
        start = end + 1;
      }
      if (start < chunk.length) rest.push(chunk.subarray(start));
      yield lines;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw storageError(path, error);
  }
}
