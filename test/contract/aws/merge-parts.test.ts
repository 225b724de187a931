import { createHash, randomBytes } from 'node:crypto';
import { ListMultipartUploadsCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { merge } from '../../../functions/merge/merge.ts';
import { joinObjects } from '../../../src/adapters/aws/join-objects.ts';
import { countLines } from '../../../src/adapters/aws/make-parts.ts';
import { openObjectWriter } from '../../../src/adapters/aws/object-writer.ts';
import { objectBytes, objectChunks, objectRange } from '../../../src/adapters/aws/read-object.ts';
import { createSpreadParts } from '../../../src/adapters/aws/spread-parts.ts';
import {
  GROUP_LIMITS,
  type GroupLimits,
  type MadePart,
  madePartSchema,
  type PartsJob,
} from '../../../src/core/cloud/parts-job.ts';
import { putObject } from '../../support/bucket-objects.ts';
import { type CloudResources, makeCloudResources } from '../../support/cloud-resources.ts';
import { type Emulator, hasEmulator, startEmulator } from '../../support/emulator.ts';
import { mergeDeps } from '../../support/merge-deps.ts';

const MIB = 1024 ** 2;
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Repeats after a prime number of bytes, so that a piece in another place is seen. */
const PATTERN = randomBytes(524_287).map((byte) => (byte === 0x0a ? 0 : byte));

/** Bytes of lines, so many of them; as long as asked. */
function lines(count: number, bytes: number): Buffer {
  const body = Buffer.alloc(bytes, PATTERN);
  body.fill('\n', bytes - count);
  return body;
}

describe.skipIf(!hasEmulator())('objects joined in parts', () => {
  let emulator: Emulator;
  let cloud: CloudResources;
  let sources: Awaited<ReturnType<typeof store>>;
  beforeAll(async () => {
    emulator = await startEmulator();
    cloud = await makeCloudResources(emulator.endpoint, 'merge-parts');
    sources = await store(BODIES);
  }, 60_000);
  afterAll(() => emulator?.stop());

  async function store(bodies: readonly Buffer[]) {
    const { bucket } = cloud;
    const stored = [];
    for (const [index, body] of bodies.entries()) {
      const key = `sources/batch_${index} +ü.jsonl`;
      const rows = countLines(body);
      const put = { Bucket: bucket.name, Key: key, Body: body, Metadata: { lines: String(rows) } };
      await bucket.client.send(new PutObjectCommand(put));
      stored.push({ key, size: body.length, rows });
    }
    return stored;
  }

  async function openUploads(): Promise<number> {
    const { bucket } = cloud;
    const command = new ListMultipartUploadsCommand({ Bucket: bucket.name });
    return (await bucket.client.send(command)).Uploads?.length ?? 0;
  }

  /** Makes groups of parts by events of their own, as invocations side by side would. */
  function spread(limits: GroupLimits) {
    const jobs: PartsJob[] = [];
    const invoke = async (job: PartsJob): Promise<MadePart[]> => {
      jobs.push(job);
      // As it comes through an invocation: JSON both ways.
      const event: unknown = JSON.parse(JSON.stringify({ make_parts: job }));
      const answer = await merge(event, mergeDeps(cloud).deps);
      return madePartSchema.array().parse(JSON.parse(JSON.stringify(answer)));
    };
    return { jobs, makeParts: createSpreadParts(cloud.bucket, invoke, limits) };
  }

  const BODIES = [
    lines(3, MIB),
    lines(2, 17 * MIB),
    lines(1, 1),
    lines(5, 2 * MIB),
    Buffer.alloc(0),
    lines(7, 15 * MIB),
    lines(1, 16 * MIB),
    lines(4, 100),
  ];

  it.each([
    ['here', GROUP_LIMITS, 0],
    ['by groups', { ...GROUP_LIMITS, parts: 2 }, 3],
  ])('have the bytes of all sources in their order, made %s', async (_name, limits, groups) => {
    const { jobs, makeParts } = spread(limits);
    const target = `joined/${groups}.jsonl`;
    const bytes = await joinObjects(target, sources, { bucket: cloud.bucket, makeParts });
    const whole = Buffer.concat(BODIES);
    expect(bytes).toBe(whole.length);
    expect(jobs).toHaveLength(groups);
    const chunks: Buffer[] = [];
    for await (const chunk of objectChunks(cloud.bucket, target)) chunks.push(chunk);
    expect(chunks.length).toBeGreaterThan(5);
    expect(digest(Buffer.concat(chunks))).toBe(digest(whole));
  });

  it('refuse a large source with other rows, which nobody reads, and leave no upload', async () => {
    const { makeParts } = spread(GROUP_LIMITS);
    const join = (index: number) =>
      joinObjects(
        'joined/rows.jsonl',
        sources.map((of, at) => (at === index ? { ...of, rows: of.rows + 1 } : of)),
        { bucket: cloud.bucket, makeParts },
      );
    await expect(join(1)).rejects.toThrow(sources[1]?.key);
    await expect(join(2)).rejects.toThrow(sources[2]?.key);
    expect(await openUploads()).toBe(0);
  });

  it('count the rows of a large source without metadata by reading it', async () => {
    const body = lines(9, 17 * MIB);
    await putObject(cloud.bucket, 'plain/a', body.toString());
    const { makeParts } = spread(GROUP_LIMITS);
    const of = (rows: number) => [{ key: 'plain/a', size: body.length, rows }];
    const deps = { bucket: cloud.bucket, makeParts };
    await expect(joinObjects('joined/p', of(8), deps)).rejects.toThrow('it has 9 rows');
    expect(await joinObjects('joined/p', of(9), deps)).toBe(body.length);
  });

  it('name the object that is missing or shorter than it was', async () => {
    const { bucket } = cloud;
    await putObject(bucket, 'short', 'abc');
    for (const [start, length] of [
      [1, 5],
      [7, 2],
    ] as const) {
      await expect(objectRange(bucket, 'short', start, length)).rejects.toThrow(
        `short: expected ${length} bytes at byte ${start}`,
      );
    }
    expect((await objectRange(bucket, 'short', 1, 2)).toString()).toBe('bc');
    await expect(objectRange(bucket, 'none', 0, 1)).rejects.toThrow(
      'none: there is no such object',
    );
  });

  it('are written piece by piece, whole or not at all', async () => {
    const { bucket } = cloud;
    const pieces = [lines(1, 3 * MIB), lines(1, 9 * MIB), lines(1, 20 * MIB), lines(1, 5)];
    const writer = openObjectWriter(bucket, 'written/large');
    for (const piece of pieces) await writer.write(piece);
    await expect(objectBytes(bucket, 'written/large')).rejects.toThrow('there is no such object');
    await writer.close();
    expect(digest(await objectBytes(bucket, 'written/large'))).toBe(digest(Buffer.concat(pieces)));
    const given = openObjectWriter(bucket, 'written/large');
    await given.write(lines(1, 20 * MIB));
    await given.abort();
    expect(await openUploads()).toBe(0);
    expect((await objectBytes(bucket, 'written/large')).length).toBe(Buffer.concat(pieces).length);
    const empty = openObjectWriter(bucket, 'written/empty');
    await empty.close();
    expect(await objectBytes(bucket, 'written/empty')).toHaveLength(0);
  });
});
