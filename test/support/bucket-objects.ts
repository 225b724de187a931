import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Bucket } from '../../src/adapters/aws/bucket.ts';

export async function putObject(bucket: Bucket, key: string, body: string): Promise<void> {
  await bucket.client.send(
    new PutObjectCommand({ Bucket: bucket.name, Key: key, Body: Buffer.from(body) }),
  );
}

/** The text of an object; undefined where there is none. */
export async function objectText(bucket: Bucket, key: string): Promise<string | undefined> {
  try {
    const { Body } = await bucket.client.send(
      new GetObjectCommand({ Bucket: bucket.name, Key: key }),
    );
    return await Body?.transformToString();
  } catch (error) {
    if ((error as Error).name === 'NoSuchKey') return undefined;
    throw error;
  }
}

export async function keysUnder(bucket: Bucket, prefix: string): Promise<string[]> {
  const { Contents = [] } = await bucket.client.send(
    new ListObjectsV2Command({ Bucket: bucket.name, Prefix: prefix }),
  );
  return Contents.map(({ Key = '' }) => Key);
}
