import { S3Client } from '@aws-sdk/client-s3';

/** The one bucket, as adapters get it. */
export interface Bucket {
  client: S3Client;
  name: string;
}

/** By path where an endpoint is set: an emulator has no host name for each bucket. */
export function openBucket(name: string, endpoint: string | undefined): Bucket {
  const client = new S3Client({ forcePathStyle: endpoint !== undefined });
  return { client, name };
}
