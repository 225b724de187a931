import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { Bucket } from './bucket.ts';

export interface ListedObject {
  key: string;
  size: number;
  etag: string;
  modified: Date;
}

/**
 * All objects whose keys begin so, in the order of their keys' bytes; with `level`, only those
 * without a further slash.
 */
export async function* listObjects(
  bucket: Bucket,
  prefix: string,
  { level = false } = {},
): AsyncGenerator<ListedObject, void, undefined> {
  let token: string | undefined;
  do {
    const page = await bucket.client.send(
      new ListObjectsV2Command({
        Bucket: bucket.name,
        Prefix: prefix,
        ...(level && { Delimiter: '/' }),
        ...(token !== undefined && { ContinuationToken: token }),
      }),
    );
    for (const { Key: key, Size: size = 0, ETag: etag = '', LastModified } of page.Contents ?? []) {
      if (key !== undefined) yield { key, size, etag, modified: LastModified ?? new Date(0) };
    }
    token = page.NextContinuationToken;
  } while (token !== undefined);
}

/** Objects named `<prefix><number>.jsonl`, by number. */
export async function listNumbered(
  bucket: Bucket,
  prefix: string,
): Promise<Map<number, ListedObject>> {
  const numbered: [number, ListedObject][] = [];
  for await (const object of listObjects(bucket, prefix)) {
    const [, number] = /^(\d+)\.jsonl$/.exec(object.key.slice(prefix.length)) ?? [];
    if (number !== undefined) numbered.push([Number(number), object]);
  }
  return new Map(numbered.sort(([a], [b]) => a - b));
}
