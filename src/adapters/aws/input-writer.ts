import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { createInFlight } from '../../core/cloud/plan/in-flight.ts';
import { joinBytes } from '../../core/dataset/join-bytes.ts';
import type { InputWriter } from '../../core/ports/pass-files.ts';
import type { Bucket } from './bucket.ts';
import { whereUnchanged } from './conditional-put.ts';

/** 10,000 of them hold 156 GiB. */
const PART_BYTES = 16 * 1024 ** 2;
const PARTS_AT_ONCE = 3;

/**
 * Writes an object that must not be overwritten: put as one, or in parts from 16 MiB on. One that is
 * there already is the same: its pass and the dataset's version settle its bytes.
 */
export function openInputWriter(bucket: Bucket, key: string): InputWriter {
  const { client } = bucket;
  const of = { Bucket: bucket.name, Key: key };
  const uploads = createInFlight(PARTS_AT_ONCE);
  const etags: (string | undefined)[] = [];
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let uploadId: string | undefined;

  async function flush(): Promise<void> {
    const body = joinBytes(waiting);
    waiting = [];
    waitingBytes = 0;
    uploadId ??= (await client.send(new CreateMultipartUploadCommand(of))).UploadId;
    const at = etags.length;
    etags.push(undefined);
    const part = { ...of, UploadId: uploadId, PartNumber: at + 1, Body: body };
    await uploads.add(async () => {
      etags[at] = (await client.send(new UploadPartCommand(part))).ETag;
    });
  }

  async function complete(): Promise<void> {
    const Parts = etags.map((ETag, at) => ({ ETag, PartNumber: at + 1 }));
    await whereUnchanged(() =>
      client.send(
        new CompleteMultipartUploadCommand({
          ...of,
          UploadId: uploadId,
          IfNoneMatch: '*',
          MultipartUpload: { Parts },
        }),
      ),
    );
  }

  return {
    async write(bytes) {
      waiting.push(bytes);
      waitingBytes += bytes.length;
      if (waitingBytes >= PART_BYTES) await flush();
    },
    async close() {
      if (uploadId === undefined) {
        const Body = joinBytes(waiting);
        await whereUnchanged(() =>
          client.send(new PutObjectCommand({ ...of, Body, IfNoneMatch: '*' })),
        );
        return;
      }
      if (waitingBytes > 0) await flush();
      await uploads.drain();
      await complete();
    },
    async abort() {
      await uploads.drain().catch(() => undefined);
      if (uploadId === undefined) return;
      // The bucket's lifecycle removes what this leaves.
      await client
        .send(new AbortMultipartUploadCommand({ ...of, UploadId: uploadId }))
        .catch(() => undefined);
    },
  };
}
