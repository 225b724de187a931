/** Limits of multipart objects in S3, in bytes. */
export const MIN_PART_BYTES = 5 * 1024 ** 2;
export const MAX_PART_BYTES = 5 * 1024 ** 3;
export const MAX_PARTS = 10_000;
export const MAX_OBJECT_BYTES = 5 * 1024 ** 4;

/** Parts are gathered up to this size where that leaves few enough of them. */
const SMALLEST_TARGET_BYTES = 16 * 1024 ** 2;
/** Parts of a target's size; the rest of `MAX_PARTS` is for those that are cut short, see below. */
const TARGETED_PARTS = 4_000;

/** `length` bytes at `start` of the source of this number. */
export interface PartRange {
  source: number;
  start: number;
  length: number;
}

/** A part of the whole: one range is copied within S3, several are read and written. */
export type PlannedPart = readonly PartRange[];

/** Joined, the sources are more than one object can hold. */
export class ObjectTooLargeError extends Error {
  override readonly name = 'ObjectTooLargeError';
}

/**
 * The parts that join sources of these sizes in their order: each at least 5 MiB but the last, at
 * most 5 GiB, at most 10,000, every byte once. Small sources are gathered into a part; large ones
 * are parts of their own, which S3 copies without anybody reading them.
 *
 * With a target T = total / 4,000, a part that is gathered to its end and a source that gets parts
 * of its own have T bytes each, so there are 4,000 of both. Each such source may cut a part short
 * that was being gathered, and has a part more for each 5 GiB: 4,000 and 1,024 further ones.
 */
export function planParts(sizes: readonly number[]): PlannedPart[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total > MAX_OBJECT_BYTES) {
    throw new ObjectTooLargeError(
      `expected at most ${MAX_OBJECT_BYTES} bytes for one object, got ${total}`,
    );
  }
  const target = Math.max(SMALLEST_TARGET_BYTES, Math.ceil(total / TARGETED_PARTS));
  const parts: PlannedPart[] = [];
  let gathered: PartRange[] = [];
  let gatheredBytes = 0;

  function gather(source: number, start: number, length: number): void {
    if (length === 0) return;
    gathered.push({ source, start, length });
    gatheredBytes += length;
  }

  function flush(): void {
    if (gatheredBytes > 0) parts.push(gathered);
    gathered = [];
    gatheredBytes = 0;
  }

  for (const [source, size] of sizes.entries()) {
    if (size < target) {
      gather(source, 0, size);
      if (gatheredBytes >= target) flush();
      continue;
    }
    // The head of a large source fills up what would be too small a part before it.
    const head = gatheredBytes === 0 ? 0 : Math.max(0, MIN_PART_BYTES - gatheredBytes);
    gather(source, 0, head);
    flush();
    parts.push(...pieces(source, head, size - head).map((piece) => [piece]));
  }
  flush();
  return parts;
}

/** Even pieces of at most 5 GiB, so that none of them is a small rest. */
function pieces(source: number, start: number, length: number): PartRange[] {
  const count = Math.ceil(length / MAX_PART_BYTES);
  return Array.from({ length: count }, (_, index) => {
    const from = Math.floor((length * index) / count);
    const to = Math.floor((length * (index + 1)) / count);
    return { source, start: start + from, length: to - from };
  });
}
