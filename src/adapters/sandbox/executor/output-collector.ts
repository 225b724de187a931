export interface CollectedOutput {
  head: Uint8Array;
  /** Empty unless something was cut. */
  tail: Uint8Array;
  omittedBytes: number;
}

export interface OutputCollector {
  /** Takes a copy of what it keeps: the caller may use the chunk's memory again. */
  add(chunk: Uint8Array): void;
  collected(): CollectedOutput;
}

/** Keeps the first and the last bytes of a stream of any length in bounded memory. */
export function createOutputCollector(keep: {
  headBytes: number;
  tailBytes: number;
}): OutputCollector {
  const headChunks: Buffer[] = [];
  let headLength = 0;
  let ring: Buffer | undefined;
  let afterHead = 0;

  function addToRing(chunk: Uint8Array): void {
    afterHead += chunk.length;
    if (keep.tailBytes === 0) return;
    ring ??= Buffer.allocUnsafe(keep.tailBytes);
    const last = chunk.subarray(Math.max(0, chunk.length - keep.tailBytes));
    const start = (afterHead - last.length) % keep.tailBytes;
    const first = last.subarray(0, keep.tailBytes - start);
    ring.set(first, start);
    ring.set(last.subarray(first.length), 0);
  }

  function tail(): Buffer {
    if (ring === undefined) return Buffer.alloc(0);
    if (afterHead <= keep.tailBytes) return ring.subarray(0, afterHead);
    const start = afterHead % keep.tailBytes;
    return Buffer.concat([ring.subarray(start), ring.subarray(0, start)]);
  }

  return {
    add(chunk) {
      const room = keep.headBytes - headLength;
      if (room > 0) {
        const part = Buffer.from(chunk.subarray(0, room));
        headChunks.push(part);
        headLength += part.length;
      }
      if (chunk.length > room) addToRing(chunk.subarray(Math.max(0, room)));
    },
    collected() {
      const omittedBytes = Math.max(0, afterHead - keep.tailBytes);
      if (omittedBytes > 0) {
        return { head: Buffer.concat(headChunks), tail: tail(), omittedBytes };
      }
      return { head: Buffer.concat([...headChunks, tail()]), tail: Buffer.alloc(0), omittedBytes };
    },
  };
}
