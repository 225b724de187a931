import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

/** The one bucket, as adapters get it. */
export interface Bucket {
  client: S3Client;
  name: string;
}

/** By path where an endpoint is set: an emulator has no host name for each bucket. */
export function openBucket(
  name: string,
  endpoint: string | undefined,
  settings: S3ClientConfig = {},
): Bucket {
  const client = new S3Client({ ...settings, forcePathStyle: endpoint !== undefined });
  return { client, name };
}
