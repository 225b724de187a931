import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

const CHUNK_BYTES = 256 * 1024;

/** Unpacks gzip, several members in a row too. Throws zlib's errors (`Z_…`) and the stream's. */
export async function* gunzip(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const unzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // Its failure also ends the loop below, which is where it is thrown.
  const pumping = pipeline(Readable.from(packed), unzip).catch(() => undefined);
  try {
    for await (const chunk of unzip) yield chunk;
  } finally {
    unzip.destroy();
    await pumping;
  }
}
