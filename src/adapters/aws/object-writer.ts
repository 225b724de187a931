import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { MAX_PARTS } from '../../core/cloud/part-planner.ts';
import type { Bucket } from './bucket.ts';

const FIRST_PART_BYTES = 8 * 1024 ** 2;
/** After so many parts they become twice as large, so that 10,000 hold more than 5 TiB. */
const PARTS_OF_A_SIZE = 1_000;

/** An object that is written piece by piece, of any size: there only once it is closed. */
export interface ObjectWriter {
  write(bytes: Uint8Array): Promise<void>;
  /** Makes the object. */
  close(): Promise<void>;
  /** Leaves what was there before, and nothing of what was written. */
  abort(): Promise<void>;
}

/** Small objects are put as one; from 8 MiB on in parts. Memory: one part. */
export function openObjectWriter(bucket: Bucket, key: string): ObjectWriter {
  const of = { Bucket: bucket.name, Key: key };
  const parts: { ETag: string | undefined; PartNumber: number }[] = [];
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let upload: string | undefined;

  const partBytes = () => FIRST_PART_BYTES * 2 ** Math.floor(parts.length / PARTS_OF_A_SIZE);

  async function flush(): Promise<void> {
    const body = Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    upload ??= (await bucket.client.send(new CreateMultipartUploadCommand(of))).UploadId;
    const number = parts.length + 1;
    if (number > MAX_PARTS) throw new Error(`${key}: more than one object can hold`);
    const { ETag } = await bucket.client.send(
      new UploadPartCommand({ ...of, UploadId: upload, PartNumber: number, Body: body }),
    );
    parts.push({ ETag, PartNumber: number });
  }

  return {
    async write(bytes) {
      let rest = bytes;
      while (rest.length > 0) {
        const some = rest.subarray(0, partBytes() - waitingBytes);
        waiting.push(some);
        waitingBytes += some.length;
        rest = rest.subarray(some.length);
        if (waitingBytes >= partBytes()) await flush();
      }
    },
    async close() {
      if (upload === undefined) {
        await bucket.client.send(new PutObjectCommand({ ...of, Body: Buffer.concat(waiting) }));
        return;
      }
      if (waitingBytes > 0) await flush();
      await bucket.client.send(
        new CompleteMultipartUploadCommand({
          ...of,
          UploadId: upload,
          MultipartUpload: { Parts: parts },
        }),
      );
    },
    async abort() {
      if (upload === undefined) return;
      // The bucket's lifecycle removes what this leaves.
      await bucket.client
        .send(new AbortMultipartUploadCommand({ ...of, UploadId: upload }))
        .catch(() => undefined);
    },
  };
}
