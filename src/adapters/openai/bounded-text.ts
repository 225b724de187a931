/** Reads a body as UTF-8 up to `maxBytes`; the rest is neither read nor kept. */
export async function boundedText(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ text: string; isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop destroys the body, which closes the connection.
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) {
      chunks.push(chunk.subarray(0, chunk.byteLength - (bytes - maxBytes)));
      return { text: decode(chunks), isWhole: false };
    }
    chunks.push(chunk);
  }
  return { text: decode(chunks), isWhole: true };
}

function decode(chunks: readonly Uint8Array[]): string {
  return Buffer.concat(chunks).toString('utf8');
}
