import type { z } from 'zod';
import { StoredObjectError } from './stored-object-error.ts';

const LF = 0x0a;

export interface ObjectLine {
  /** With the LF that ends it. */
  bytes: Buffer;
  number: number;
}

/** The lines of an object's chunks. Throws `StoredObjectError` where the last one has no end. */
export async function* objectLines(
  key: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<ObjectLine, void, undefined> {
  let rest: Buffer[] = [];
  let number = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      const line = chunk.subarray(start, end + 1);
      number += 1;
      yield { bytes: rest.length === 0 ? line : Buffer.concat([...rest, line]), number };
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) throw new StoredObjectError(key, 'its last line has no end');
}

/** The value of a line that Talaria wrote. Throws `StoredObjectError` naming object and line. */
export function parseObjectLine<T>(key: string, line: ObjectLine, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(line.bytes.toString('utf8')));
  } catch (error) {
    throw notOurs(key, line, error);
  }
}

function notOurs(key: string, { number }: ObjectLine, cause: unknown): StoredObjectError {
  return new StoredObjectError(key, `line ${number} is not what Talaria wrote`, { cause });
}
