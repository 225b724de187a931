import { PutObjectCommand } from '@aws-sdk/client-s3';
import type { z } from 'zod';
import { runKeys } from '../../core/cloud/bucket-keys.ts';
import { parseDatasetRow } from '../../core/dataset/dataset-row.ts';
import { promptHash } from '../../core/dataset/prompt-id.ts';
import type { WorkerObjects } from '../../core/ports/worker-objects.ts';
import { runFileSchema } from '../../core/run/manifest.ts';
import { privateSchema } from '../../core/run/private-settings.ts';
import { trajectoryLine, trajectorySchema } from '../../core/trajectory/trajectory.ts';
import type { Bucket } from './bucket.ts';
import { listObjects } from './list-objects.ts';
import { objectBytes, objectRange } from './read-object.ts';
import { StoredObjectError } from './stored-object-error.ts';

/** What a worker reads and writes of its run in the bucket. */
export function createBucketWorkerObjects(
  bucket: Bucket,
  runName: string,
  sha256Hex: (text: string) => string,
): WorkerObjects {
  const keys = runKeys(runName);
  return {
    runFile: () => jsonObject(bucket, keys.manifest, runFileSchema),
    async privateSettings() {
      for await (const { key } of listObjects(bucket, keys.privateFile)) {
        if (key === keys.privateFile) return await jsonObject(bucket, key, privateSchema);
      }
      return {};
    },
    async row(prompt, inputOfPass) {
      const key = keys.input(inputOfPass);
      const bytes = await objectRange(bucket, key, prompt.offset, prompt.length);
      const parsed = parseDatasetRow(bytes.toString('utf8'));
      const place = `the ${prompt.length} bytes at ${prompt.offset}`;
      if (!parsed.ok) throw new StoredObjectError(key, `${place}: ${parsed.reason}`);
      if (promptHash(parsed.row, sha256Hex) !== prompt.hash) {
        throw new StoredObjectError(key, `${place} are not the row of prompt ${prompt.index}`);
      }
      return parsed.row;
    },
    async samples(batch) {
      const prefix = keys.samples(batch);
      const found = [];
      for await (const { key } of listObjects(bucket, prefix)) {
        const [, position, launch] = /^(\d+)-(\d+)\.json$/.exec(key.slice(prefix.length)) ?? [];
        if (position !== undefined) found.push({ position: +position, launch: Number(launch) });
      }
      return found;
    },
    async sample(batch, { position, launch }) {
      const key = keys.sample(batch, position, launch);
      return { key, row: await jsonObject(bucket, key, trajectorySchema) };
    },
    async putSample(batch, { position, launch }, row) {
      const key = keys.sample(batch, position, launch);
      const Body = `${trajectoryLine(row)}\n`;
      await bucket.client.send(new PutObjectCommand({ Bucket: bucket.name, Key: key, Body }));
      return key;
    },
  };
}

async function jsonObject<T>(bucket: Bucket, key: string, schema: z.ZodType<T>): Promise<T> {
  const text = (await objectBytes(bucket, key)).toString('utf8');
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw notOurs(key, error);
  }
}

function notOurs(key: string, cause: unknown): StoredObjectError {
  return new StoredObjectError(key, 'it is not what Talaria writes', { cause });
}
