type Bytes = AsyncIterable<Uint8Array>;

const GZIP_MAGIC = [0x1f, 0x8b] as const;

/** The bytes of a stream, unpacked by `gunzip` where its first two bytes are those of gzip. */
export async function* unpacked(
  stream: Bytes,
  gunzip: (packed: Bytes) => Bytes,
): AsyncGenerator<Uint8Array> {
  const chunks = stream[Symbol.asyncIterator]();
  try {
    const head = await firstChunks(chunks);
    const whole = rejoined(head, chunks);
    if (startsAsGzip(head)) yield* gunzip(whole);
    else yield* whole;
  } finally {
    await chunks.return?.();
  }
}

/** Chunks that hold the first two bytes. */
async function firstChunks(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array[]> {
  const head: Uint8Array[] = [];
  let length = 0;
  while (length < GZIP_MAGIC.length) {
    const next = await chunks.next();
    if (next.done === true) break;
    head.push(next.value);
    length += next.value.length;
  }
  return head;
}

function startsAsGzip(head: readonly Uint8Array[]): boolean {
  const first = head.flatMap((chunk) => [...chunk.subarray(0, GZIP_MAGIC.length)]);
  return GZIP_MAGIC.every((byte, at) => first[at] === byte);
}

async function* rejoined(
  head: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* head;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}
