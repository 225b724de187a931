import {
  type GetObjectCommandInput,
  type GetObjectCommandOutput,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s3Dataset } from '../../../src/adapters/aws/s3-dataset.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';

const MIB = 1024 ** 2;

describe.skipIf(!hasEmulator())('an uploaded dataset', () => {
  let emulator: Emulator;
  let resources: CloudResources;

  beforeAll(async () => {
    emulator = await startEmulator();
    resources = await makeCloudResources(emulator.endpoint, 'dataset');
  });
  afterAll(() => emulator.stop());

  async function upload(key: string, body: Buffer) {
    const { client, name } = resources.bucket;
    const { VersionId: version = '' } = await client.send(
      new PutObjectCommand({ Bucket: name, Key: key, Body: body }),
    );
    return { key, version_id: version, sequencer: '', config_version_id: '' };
  }

  /** A bucket that cuts ranges of versions too, as AWS does; some bodies break off. */
  function ranged(breaks: readonly number[]) {
    const asked: (string | undefined)[] = [];
    const client = new S3Client({
      region: 'us-east-1',
      endpoint: emulator.endpoint,
      forcePathStyle: true,
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    client.middlewareStack.add(
      (next) => async (args) => {
        const { VersionId: _version, ...input } = args.input as GetObjectCommandInput;
        asked.push(input.Range);
        const call = asked.length;
        const answer = await next({ ...args, input });
        const output = answer.output as GetObjectCommandOutput;
        if (breaks.includes(call) && output.Body !== undefined) {
          output.Body.transformToByteArray = async () => {
            throw new Error('aborted');
          };
        }
        return answer;
      },
      { step: 'initialize', name: 'ranged' },
    );
    return { bucket: { client, name: resources.bucket.name }, asked };
  }

  async function read(bucket: CloudResources['bucket'], of: Awaited<ReturnType<typeof upload>>) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of s3Dataset(bucket, of)) chunks.push(chunk);
    return { sizes: chunks.map(({ length }) => length / MIB), whole: Buffer.concat(chunks) };
  }

  const content = Buffer.alloc(17 * MIB);
  for (let at = 0; at < content.length; at += 4) content.writeUInt32LE(at, at);

  it('is read in ranges, each anew where its body breaks off', async () => {
    const of = await upload('large', content);
    const { bucket, asked } = ranged([1, 3, 4]);
    const { sizes, whole } = await read(bucket, of);
    expect(sizes).toEqual([8, 8, 1]);
    expect(whole.equals(content)).toBe(true);
    expect(asked).toHaveLength(6);
  });

  it('is read where ranges are not cut, and as the version that was claimed', async () => {
    const of = await upload('versions', content);
    await upload('versions', Buffer.from('later'));
    expect((await read(resources.bucket, of)).whole.equals(content)).toBe(true);
  });

  it('ends where it is a multiple of a range, and where it is empty', async () => {
    const { bucket, asked } = ranged([]);
    const even = await upload('even', content.subarray(0, 8 * MIB));
    expect((await read(bucket, even)).sizes).toEqual([8]);
    expect(asked).toHaveLength(1);
    const empty = await upload('empty', Buffer.alloc(0));
    expect((await read(bucket, empty)).sizes).toEqual([]);
    expect((await read(resources.bucket, empty)).sizes).toEqual([]);
  });

  it('says that its version is gone', async () => {
    const of = await upload('gone', Buffer.from('x'));
    await expect(read(resources.bucket, { ...of, version_id: 'none' })).rejects.toThrow(
      'gone: expected the uploaded version, found it deleted',
    );
    await expect(read(resources.bucket, { ...of, key: 'nowhere' })).rejects.toThrow('nowhere: ');
  });
});
