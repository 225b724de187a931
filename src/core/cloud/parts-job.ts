import { z } from 'zod';

const count = z.int().min(0);

/** A range of an object of `size` bytes; of a whole small one, `rows` is what it must hold. */
export const sourceRangeSchema = z.object({
  key: z.string(),
  start: count,
  length: z.int().min(1),
  /** Lines that it must have; -1 where they are not to be counted. */
  rows: z.int().min(-1),
});
export type SourceRange = z.infer<typeof sourceRangeSchema>;

export const partToMakeSchema = z.object({
  number: z.int().min(1),
  ranges: z.array(sourceRangeSchema).min(1),
});
export type PartToMake = z.infer<typeof partToMakeSchema>;

/** Parts of one multipart upload that one invocation makes. */
export const partsJobSchema = z.object({
  key: z.string(),
  upload_id: z.string(),
  parts: z.array(partToMakeSchema).min(1),
});
export type PartsJob = z.infer<typeof partsJobSchema>;

export const madePartSchema = z.object({ number: z.int().min(1), etag: z.string() });
export type MadePart = z.infer<typeof madePartSchema>;

/** The most that one invocation makes: some minutes of work, and a message far below 6 MB. */
export interface GroupLimits {
  parts: number;
  ranges: number;
  bytes: number;
}
export const GROUP_LIMITS: GroupLimits = { parts: 1_000, ranges: 5_000, bytes: 16 * 1024 ** 3 };

/** Bytes of a part. */
export function bytesOf({ ranges }: PartToMake): number {
  return ranges.reduce((sum, { length }) => sum + length, 0);
}

/** The parts in groups within the limits; a part that is above them alone is a group of its own. */
export function groupParts(parts: readonly PartToMake[], limits: GroupLimits): PartToMake[][] {
  const groups: PartToMake[][] = [];
  let group: PartToMake[] = [];
  let ranges = 0;
  let bytes = 0;
  for (const part of parts) {
    ranges += part.ranges.length;
    bytes += bytesOf(part);
    const isFull = group.length >= limits.parts || ranges > limits.ranges || bytes > limits.bytes;
    if (isFull && group.length > 0) {
      groups.push(group);
      group = [];
      ranges = part.ranges.length;
      bytes = bytesOf(part);
    }
    group.push(part);
  }
  if (group.length > 0) groups.push(group);
  return groups;
}
