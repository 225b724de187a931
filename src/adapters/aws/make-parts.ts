import { UploadPartCommand, UploadPartCopyCommand } from '@aws-sdk/client-s3';
import { MIN_PART_BYTES } from '../../core/cloud/part-planner.ts';
import {
  bytesOf,
  type MadePart,
  type PartsJob,
  type PartToMake,
  type SourceRange,
} from '../../core/cloud/parts-job.ts';
import { atOnce } from './at-once.ts';
import type { Bucket } from './bucket.ts';
import { objectRange } from './read-object.ts';
import { StoredObjectError } from './stored-object-error.ts';

const PARTS_AT_ONCE = 4;
const READS_AT_ONCE = 16;
/** Of the parts that are gathered at once. */
const MEMORY_BYTES = 512 * 1024 ** 2;
const LF = 0x0a;

/** Makes parts of a multipart upload; making one again replaces it. */
export async function makeParts(bucket: Bucket, job: PartsJob): Promise<MadePart[]> {
  const gathered = job.parts.filter(({ ranges }) => !isCopied(ranges)).map(bytesOf);
  const largest = Math.max(1, ...gathered);
  const limit = Math.min(PARTS_AT_ONCE, Math.max(1, Math.floor(MEMORY_BYTES / largest)));
  return await atOnce(job.parts, limit, async (part) => {
    const etag = await makePart(bucket, job, part);
    if (etag === undefined) throw new Error(`${job.key}: part ${part.number} has no ETag`);
    return { number: part.number, etag };
  });
}

async function makePart(bucket: Bucket, { key, upload_id }: PartsJob, part: PartToMake) {
  const target = {
    Bucket: bucket.name,
    Key: key,
    UploadId: upload_id,
    PartNumber: part.number,
  };
  const [first] = part.ranges;
  if (first !== undefined && isCopied(part.ranges)) {
    const { start, length } = first;
    const { CopyPartResult: copied } = await bucket.client.send(
      new UploadPartCopyCommand({
        ...target,
        CopySource: `${bucket.name}/${first.key.split('/').map(encodeURIComponent).join('/')}`,
        CopySourceRange: `bytes=${start}-${start + length - 1}`,
      }),
    );
    return copied?.ETag;
  }
  const body = await gather(bucket, part.ranges);
  return (await bucket.client.send(new UploadPartCommand({ ...target, Body: body }))).ETag;
}

/** Copied within S3, unread: one range that no rows have to be counted in. */
function isCopied(ranges: readonly SourceRange[]): boolean {
  const [only] = ranges;
  return ranges.length === 1 && only?.rows === -1 && only.length >= MIN_PART_BYTES;
}

/** The ranges' bytes in order. Throws `StoredObjectError` for a source with other rows. */
export async function gather(bucket: Bucket, ranges: readonly SourceRange[]): Promise<Buffer> {
  let length = 0;
  const placed = ranges.map((range) => {
    const place = { ...range, at: length };
    length += range.length;
    return place;
  });
  const body = Buffer.allocUnsafe(length);
  await atOnce(placed, READS_AT_ONCE, async ({ key, start, length: bytes, rows, at }) => {
    const read = await objectRange(bucket, key, start, bytes);
    if (rows >= 0) refuseOtherRows(key, rows, countLines(read));
    read.copy(body, at);
  });
  return body;
}

/** Throws `StoredObjectError` unless an object has the rows that the ledger says. */
export function refuseOtherRows(key: string, expected: number, found: number): void {
  if (expected === found) return;
  throw new StoredObjectError(
    key,
    `it has ${found} rows, but the ledger has ${expected} of them: rows were lost or the file was replaced. An earlier version is in the bucket; nothing was merged.`,
  );
}

export function countLines(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) lines += 1;
  return lines;
}
