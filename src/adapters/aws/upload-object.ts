import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Bucket } from './bucket.ts';
import { openObjectWriter } from './object-writer.ts';
import { objectBytes } from './read-object.ts';

/** The text of an object; undefined where there is none. */
export async function objectTextIfAny(bucket: Bucket, key: string): Promise<string | undefined> {
  try {
    return (await objectBytes(bucket, key)).toString('utf8');
  } catch (error) {
    if (error instanceof Error && error.name === 'StoredObjectError') return undefined;
    throw error;
  }
}

export async function putText(bucket: Bucket, key: string, text: string): Promise<void> {
  const put = { Bucket: bucket.name, Key: key, Body: Buffer.from(text) };
  await bucket.client.send(new PutObjectCommand(put));
}

export async function deleteObject(bucket: Bucket, key: string): Promise<void> {
  await bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.name, Key: key }));
}

/** Puts a stream of any size, in memory of one part: the object is there when it is whole. */
export async function putStream(
  bucket: Bucket,
  key: string,
  chunks: AsyncIterable<Uint8Array>,
  onBytes: (count: number) => void,
): Promise<void> {
  const writer = openObjectWriter(bucket, key);
  try {
    for await (const chunk of chunks) {
      await writer.write(chunk);
      onBytes(chunk.length);
    }
    await writer.close();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}
