import { setTimeout as delay } from 'node:timers/promises';
import { GetObjectCommand, type GetObjectCommandOutput } from '@aws-sdk/client-s3';
import type { Upload } from '../../core/cloud/run-record.ts';
import { DatasetError } from '../../core/dataset/dataset-error.ts';
import type { Bucket } from './bucket.ts';

const RANGE_BYTES = 8 * 1024 ** 2;
const FIRST_WAIT_MS = 100;
const TRIES = 6;

/**
 * The bytes of one version of an upload, in ranges of 8 MiB of which the next is asked for while one
 * is used: a slow reader would have a single stream cut. Throws `DatasetError` where it is gone.
 */
export async function* s3Dataset(
  bucket: Bucket,
  { key, version_id: versionId }: Upload,
): AsyncGenerator<Uint8Array, void, undefined> {
  const ask = (start: number) => {
    const asked = readRange(bucket, { key, versionId, start });
    // Waited for later: until then nobody else listens.
    asked.catch(() => undefined);
    return asked;
  };
  let next = ask(0);
  for (let at = 0; ; at += RANGE_BYTES) {
    const { bytes, size } = await next;
    const isLast = at + bytes.length >= size;
    if (!isLast) next = ask(at + RANGE_BYTES);
    if (bytes.length > 0) yield bytes;
    if (isLast) return;
  }
}

interface Range {
  key: string;
  versionId: string;
  start: number;
}

interface Got {
  bytes: Uint8Array;
  /** Of the whole object. */
  size: number;
}

/** A range whole, asked for anew where its connection breaks: the SDK does not try bodies again. */
async function readRange(bucket: Bucket, of: Range): Promise<Got> {
  for (let tried = 1; ; tried += 1) {
    try {
      const answer = await bucket.client.send(
        new GetObjectCommand({
          Bucket: bucket.name,
          Key: of.key,
          VersionId: of.versionId,
          Range: `bytes=${of.start}-${of.start + RANGE_BYTES - 1}`,
        }),
      );
      return await readBody(answer, of);
    } catch (error) {
      const known = endOf(error, of);
      if (known !== undefined) return known;
      if (tried === TRIES) throw error;
      await delay(FIRST_WAIT_MS * 2 ** tried);
    }
  }
}

async function readBody(answer: GetObjectCommandOutput, { key, start }: Range): Promise<Got> {
  const bytes = (await answer.Body?.transformToByteArray()) ?? new Uint8Array(0);
  if (answer.ContentLength !== undefined && answer.ContentLength !== bytes.length) {
    throw new Error(`${key}: got ${bytes.length} bytes of ${answer.ContentLength}`);
  }
  const [, size] = /\/(\d+)$/.exec(answer.ContentRange ?? '') ?? [];
  if (size !== undefined) return { bytes, size: Number(size) };
  // Who takes no ranges sends the whole object.
  return { bytes: bytes.subarray(start), size: bytes.length };
}

/** An empty object has no range; throws for a version that is not there. */
function endOf(error: unknown, { key }: Range): Got | undefined {
  const name = error instanceof Error ? error.name : '';
  if (name === 'InvalidRange') return { bytes: new Uint8Array(0), size: 0 };
  if (name !== 'NoSuchKey' && name !== 'NoSuchVersion') return undefined;
  throw new DatasetError(key, 0, 'expected the uploaded version, found it deleted', {
    cause: error,
  });
}
