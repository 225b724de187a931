import type { Readable } from 'node:stream';

export interface BoundedText {
  text: string;
  isWhole: boolean;
}

/**
 * Reads a body as UTF-8 up to `maxBytes`; the rest is neither read nor kept. Rejects with the
 * body's error. By events: iterating costs a promise or two for each chunk of each reply.
 */
export function boundedText(body: Readable, maxBytes: number): Promise<BoundedText> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    body.on('data', (chunk: Uint8Array) => {
      bytes += chunk.byteLength;
      if (bytes <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      chunks.push(chunk.subarray(0, chunk.byteLength - (bytes - maxBytes)));
      resolve({ text: decode(chunks), isWhole: false });
      // Closes the connection.
      body.destroy();
    });
    body.once('end', () => resolve({ text: decode(chunks), isWhole: true }));
    body.once('error', reject);
    body.once('close', () => reject(new Error('the body was closed before its end')));
  });
}

function decode(chunks: readonly Uint8Array[]): string {
  return Buffer.concat(chunks).toString('utf8');
}
