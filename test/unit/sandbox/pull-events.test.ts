import { describe, expect, it } from 'vitest';
import {
  createPullSum,
  type PullEvent,
  readPullEvents,
} from '../../../src/adapters/sandbox/docker/pull-events.ts';

async function read(...chunks: (string | Uint8Array)[]): Promise<PullEvent[]> {
  async function* stream() {
    yield* chunks;
  }
  const events: PullEvent[] = [];
  for await (const event of readPullEvents(stream())) events.push(event);
  return events;
}

describe('readPullEvents', () => {
  it('reads lines however they are cut, characters too', async () => {
    const bytes = Buffer.from('{"status":"a"}\r\n\r\n{"status":"é","id":"1"}\n{"error":"no"}');
    const one = [...bytes].map((byte) => Uint8Array.of(byte));
    const expected = [{ status: 'a' }, { status: 'é', id: '1' }, { error: 'no' }];
    expect(await read(...one)).toEqual(expected);
    expect(await read(bytes)).toEqual(expected);
  });

  it('takes sizes that are none for unknown', async () => {
    const [event] = await read('{"id":"1","progressDetail":{"current":-1,"total":"x"}}');
    expect(event?.progressDetail).toEqual({ current: 0, total: 0 });
  });

  it.each([['not json\n'], ['[]\n'], ['{"status":1}\n'], ['x'.repeat(1_000_001)]])(
    'refuses what is no answer of a daemon (%#)',
    async (text) => {
      await expect(read(text)).rejects.toThrow(/^Docker (told|sent)/);
    },
  );
});

describe('createPullSum', () => {
  const event = (id: string, status: string, current?: number, total?: number): PullEvent => ({
    id,
    status,
    ...(current !== undefined && { progressDetail: { current, total } }),
  });

  it('adds up layers, first as they come and then as they are unpacked', () => {
    const sum = createPullSum();
    const progressAfter = (...events: PullEvent[]) => {
      for (const of of events) sum.add(of);
      return Object.values(sum.progress());
    };
    expect(progressAfter(event('1', 'Pulling from library/debian'))).toEqual(['downloading', 0, 0]);
    expect(progressAfter(event('a', 'Pulling fs layer'), event('b', 'Already exists'))).toEqual([
      'downloading',
      0,
      0,
    ]);
    expect(progressAfter(event('a', 'Downloading', 10, 100))).toEqual(['downloading', 10, 100]);
    expect(progressAfter(event('c', 'Downloading', 5, 50))).toEqual(['downloading', 15, 150]);
    expect(progressAfter(event('a', 'Verifying Checksum'))).toEqual(['downloading', 105, 150]);
    expect(progressAfter(event('a', 'Extracting', 30, 100))).toEqual(['downloading', 105, 150]);
    expect(progressAfter(event('c', 'Download complete'))).toEqual(['extracting', 30, 150]);
    expect(progressAfter(event('a', 'Pull complete'))).toEqual(['extracting', 100, 150]);
    expect(progressAfter(event('c', 'Pull complete'))).toEqual(['extracting', 150, 150]);
  });

  it('tells what moves from what stands', () => {
    const sum = createPullSum();
    const moves = [
      event('a', 'Downloading', 10, 100),
      event('a', 'Downloading', 10, 100),
      event('a', 'Downloading', 11, 100),
      event('a', 'Retrying in 5 seconds'),
      event('a', 'Retrying in 4 seconds'),
      event('b', 'Waiting'),
      event('b', 'Waiting'),
    ].map((of) => sum.add(of));
    expect(moves).toEqual([true, false, true, false, false, true, false]);
  });

  it('keeps no more layers than an image may have', () => {
    const sum = createPullSum();
    for (let id = 0; id < 20_000; id += 1) sum.add(event(String(id), 'Downloading', 1, 1));
    expect(sum.progress().totalBytes).toBe(10_000);
  });
});
