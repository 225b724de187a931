import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { runKeys } from '../../core/cloud/bucket-keys.ts';
import type { OldSamples } from '../../core/ports/old-samples.ts';
import type { Bucket } from './bucket.ts';
import { listObjects } from './list-objects.ts';

/** Most keys of one request. */
const AT_ONCE = 1_000;

export function createBucketOldSamples(bucket: Bucket): OldSamples {
  /** Throws where S3 kept one: it is listed again next time. */
  async function deleteAll(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const { Errors: [first] = [] } = await bucket.client.send(
      new DeleteObjectsCommand({
        Bucket: bucket.name,
        Delete: { Quiet: true, Objects: keys.map((Key) => ({ Key })) },
      }),
    );
    if (first !== undefined) throw new Error(`${first.Key}: ${first.Code}: ${first.Message}`);
  }

  return {
    async deleteSamples(run, { before, most }) {
      let keys: string[] = [];
      let deleted = 0;
      for await (const { key, modified } of listObjects(bucket, runKeys(run).allSamples)) {
        if (modified.getTime() >= before) continue;
        keys.push(key);
        if (keys.length === Math.min(AT_ONCE, most - deleted)) {
          await deleteAll(keys);
          deleted += keys.length;
          keys = [];
        }
        if (deleted === most) return deleted;
      }
      await deleteAll(keys);
      return deleted + keys.length;
    },
  };
}
