import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { type PlannedPart, planParts } from '../../core/cloud/part-planner.ts';
import type { MadePart, PartsJob, PartToMake } from '../../core/cloud/parts-job.ts';
import { atOnce } from './at-once.ts';
import type { Bucket } from './bucket.ts';
import { LINES_METADATA } from './bucket-batch-objects.ts';
import { countLines, gather, refuseOtherRows } from './make-parts.ts';
import { objectChunks } from './read-object.ts';

export interface JoinSource {
  key: string;
  size: number;
  /** Lines that it must have; undefined where they are not to be counted. */
  rows: number | undefined;
}

export interface JoinDeps {
  bucket: Bucket;
  /** Makes the parts of an upload, here or by invocations side by side. */
  makeParts(job: PartsJob): Promise<MadePart[]>;
}

const HEADS_AT_ONCE = 16;

/**
 * Joins objects under `target`, which is replaced whole or not at all; resolves to its size. Throws
 * `StoredObjectError` for a source with other rows than it should have.
 */
export async function joinObjects(
  target: string,
  sources: readonly JoinSource[],
  deps: JoinDeps,
): Promise<number> {
  const plan = planParts(sources.map(({ size }) => size));
  await checkUnread(sources, plan, deps.bucket);
  const parts = plan.map((part, index) => partToMake(part, index + 1, sources));
  const [only] = parts;
  if (parts.length <= 1) {
    const body = only === undefined ? Buffer.alloc(0) : await gather(deps.bucket, only.ranges);
    await put(deps.bucket, target, body);
  } else {
    await upload(target, parts, deps);
  }
  return sources.reduce((sum, { size }) => sum + size, 0);
}

function partToMake(part: PlannedPart, number: number, sources: readonly JoinSource[]): PartToMake {
  const ranges = part.map(({ source, start, length }) => {
    const { key = '', size, rows } = sources[source] ?? {};
    // Whole ones are counted when they are read; the others have been before.
    return { key, start, length, rows: length === size && isRead(part) ? (rows ?? -1) : -1 };
  });
  return { number, ranges };
}

/** Whether the ranges of a part go through this process: S3 copies those of one range. */
function isRead(part: PlannedPart): boolean {
  return part.length > 1;
}

/** Counts the rows of sources of which some part is copied, or that lie in several parts. */
async function checkUnread(
  sources: readonly JoinSource[],
  plan: readonly PlannedPart[],
  bucket: Bucket,
): Promise<void> {
  const unread = new Set<number>();
  for (const part of plan) {
    for (const { source, length } of part) {
      if (!isRead(part) || length !== sources[source]?.size) unread.add(source);
    }
  }
  await atOnce([...unread], HEADS_AT_ONCE, async (index) => {
    const { key = '', rows } = sources[index] ?? {};
    if (rows !== undefined) refuseOtherRows(key, rows, await linesOf(bucket, key));
  });
}

/** What the object's metadata say, else what is counted. */
async function linesOf(bucket: Bucket, key: string): Promise<number> {
  const { Metadata } = await bucket.client.send(
    new HeadObjectCommand({ Bucket: bucket.name, Key: key }),
  );
  const known = Metadata?.[LINES_METADATA];
  if (known !== undefined && /^\d+$/.test(known)) return Number(known);
  let lines = 0;
  for await (const chunk of objectChunks(bucket, key)) lines += countLines(chunk);
  return lines;
}

async function put(bucket: Bucket, key: string, body: Buffer): Promise<void> {
  await bucket.client.send(new PutObjectCommand({ Bucket: bucket.name, Key: key, Body: body }));
}

async function upload(
  key: string,
  parts: readonly PartToMake[],
  { bucket, makeParts }: JoinDeps,
): Promise<void> {
  const of = { Bucket: bucket.name, Key: key };
  const { UploadId } = await bucket.client.send(new CreateMultipartUploadCommand(of));
  if (UploadId === undefined) throw new Error(`${key}: the upload has no id`);
  try {
    const made = await makeParts({ key, upload_id: UploadId, parts: [...parts] });
    const ordered = [...made].sort((a, b) => a.number - b.number);
    if (ordered.length !== parts.length) {
      throw new Error(`${key}: ${ordered.length} of ${parts.length} parts were made`);
    }
    await bucket.client.send(
      new CompleteMultipartUploadCommand({
        ...of,
        UploadId,
        MultipartUpload: {
          Parts: ordered.map(({ number, etag }) => ({ PartNumber: number, ETag: etag })),
        },
      }),
    );
  } catch (error) {
    // The bucket's lifecycle removes what this leaves.
    await bucket.client
      .send(new AbortMultipartUploadCommand({ ...of, UploadId }))
      .catch(() => undefined);
    throw error;
  }
}
