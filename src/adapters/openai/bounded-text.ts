/** Reads a body as UTF-8 up to `maxBytes`; the rest is neither read nor kept. */
export async function boundedText(
  response: Pick<Response, 'body'>,
  maxBytes: number,
): Promise<{ text: string; isWhole: boolean }> {
  if (response.body === null) return { text: '', isWhole: true };
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the body, which closes the connection.
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
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
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
}
