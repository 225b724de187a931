import { PutObjectCommand } from '@aws-sdk/client-s3';
import type { BatchObjects } from '../../core/ports/batch-objects.ts';
import type { Bucket } from './bucket.ts';
import { objectBytes, objectRange } from './read-object.ts';

/** Metadata of a batch's files: how many lines they have, so that they can be copied unread. */
export const LINES_METADATA = 'lines';

const TRIES = 5;

/** The objects of batches in the bucket. */
export function createBucketBatchObjects(bucket: Bucket): BatchObjects {
  return {
    text: async (key) => (await objectBytes(bucket, key)).toString('utf8'),
    textAt: async (key, offset, length) =>
      (await objectRange(bucket, key, offset, length)).toString('utf8'),
    async putOnce(key, text, lines) {
      for (let attempt = 1; ; attempt += 1) {
        const refusal = await put(bucket, key, text, lines);
        if (refusal === undefined || refusal.name === 'PreconditionFailed') return;
        // Another put of the same key is under way: asked again, it is there or failed.
        if (refusal.name !== 'ConditionalRequestConflict' || attempt === TRIES) throw refusal;
      }
    },
  };
}

async function put(
  bucket: Bucket,
  key: string,
  text: string,
  lines: number,
): Promise<Error | undefined> {
  try {
    await bucket.client.send(
      new PutObjectCommand({
        Bucket: bucket.name,
        Key: key,
        // An empty text has no length for the SDK.
        Body: Buffer.from(text),
        IfNoneMatch: '*',
        Metadata: { [LINES_METADATA]: String(lines) },
      }),
    );
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
