import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import type { PassFiles, StoredText } from '../../core/ports/pass-files.ts';
import type { Bucket } from './bucket.ts';
import { whereUnchanged } from './conditional-put.ts';
import { openInputWriter } from './input-writer.ts';
import { objectChunks } from './read-object.ts';
import { s3Dataset } from './s3-dataset.ts';

/** Larger ones are none of those that a planner reads whole. */
const MAX_TEXT_BYTES = 16 * 1024 ** 2;
const MISSING = new Set(['NoSuchKey', 'NoSuchVersion', 'NotFound']);

/** What a planner reads and writes of the bucket. */
export function createS3PassFiles(bucket: Bucket): PassFiles {
  const { client, name: Bucket } = bucket;
  return {
    async versionOf(key) {
      const found = await unlessMissing(() =>
        client.send(new HeadObjectCommand({ Bucket, Key: key })),
      );
      // A bucket without versions calls each "null".
      return found && (found.VersionId ?? 'null');
    },
    dataset: (upload) => s3Dataset(bucket, upload),
    input: (key) => objectChunks(bucket, key),
    openInput: (key) => openInputWriter(bucket, key),
    text: (key, versionId) => readText(bucket, key, versionId),
    async put(key, text) {
      await client.send(new PutObjectCommand({ Bucket, Key: key, Body: text }));
    },
    async replace(key, text, read) {
      const condition = read === undefined ? { IfNoneMatch: '*' } : { IfMatch: read.etag };
      const put = () =>
        client.send(new PutObjectCommand({ Bucket, Key: key, Body: text, ...condition }));
      if (await whereUnchanged(put)) return true;
      // A put whose answer was lost is sent again by the client, and meets itself.
      return (await readText(bucket, key, undefined))?.text === text;
    },
    async remove(key, versionId) {
      const version = versionId === undefined ? {} : { VersionId: versionId };
      await client.send(new DeleteObjectCommand({ Bucket, Key: key, ...version }));
    },
  };
}

async function readText(
  { client, name }: Bucket,
  key: string,
  versionId: string | undefined,
): Promise<StoredText | undefined> {
  const version = versionId === undefined ? {} : { VersionId: versionId };
  return await unlessMissing(async () => {
    const answer = await client.send(new GetObjectCommand({ Bucket: name, Key: key, ...version }));
    if ((answer.ContentLength ?? 0) > MAX_TEXT_BYTES) {
      await answer.Body?.transformToByteArray();
      throw new Error(
        `${key}: expected at most ${MAX_TEXT_BYTES} bytes, got ${answer.ContentLength}`,
      );
    }
    return {
      text: (await answer.Body?.transformToString('utf-8')) ?? '',
      versionId: answer.VersionId ?? 'null',
      etag: answer.ETag ?? '',
    };
  });
}

async function unlessMissing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Error && MISSING.has(error.name)) return undefined;
    throw error;
  }
}
