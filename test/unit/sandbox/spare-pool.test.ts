import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createSparePool,
  type Spare,
  type SparePoolDeps,
} from '../../../src/adapters/sandbox/docker/spare-pool.ts';

class Made implements Spare {
  readonly image: string;
  isDiscarded = false;
  readonly ended: Promise<void>;
  end: () => void = () => undefined;

  constructor(image: string) {
    this.image = image;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  async discard() {
    this.isDiscarded = true;
    this.end();
  }
}

function poolOf(overrides: Partial<SparePoolDeps<Made>> = {}) {
  const made: Made[] = [];
  const pool = createSparePool<Made>({
    most: 3,
    startsAtOnce: 2,
    mayStart: () => true,
    async start(image) {
      const spare = new Made(image);
      made.push(spare);
      return spare;
    },
    ...overrides,
  });
  return { pool, made };
}
/** Lets all that is ready to go on do so. */
const settle = () => new Promise((resolve) => setImmediate(resolve));
function given(spare: Made | undefined, image: string): Made[] {
  if (spare === undefined) return [];
  expect(spare.image).toBe(image);
  return [spare];
}
const imagesOf = (made: readonly Made[]) => made.map(({ image }) => image);

describe('spare pool', () => {
  it('starts what comes next, as many as it may, and one more for each that is taken', async () => {
    const { pool, made } = poolOf();
    for (const [at, image] of ['a', 'b', 'a', 'c', 'a'].entries()) pool.expect(String(at), image);
    await settle();
    expect(imagesOf(made)).toEqual(['a', 'b', 'a']);
    expect(await pool.take('0', 'a')).toBe(made[0]);
    await settle();
    expect(imagesOf(made)).toEqual(['a', 'b', 'a', 'c']);
  });

  it('gives nothing where there is none of the image', async () => {
    const { pool, made } = poolOf();
    pool.expect('0', 'a');
    await settle();
    expect(await pool.take('1', 'b')).toBeUndefined();
    expect(made[0]?.isDiscarded).toBe(false);
  });

  it('never gives one out twice, nor holds more than it may, whatever the order', async () => {
    const images = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 20 });
    const order = images.chain((wanted) => {
      const all = wanted.map((image, at) => ({ image, id: String(at) }));
      const takes = fc.shuffledSubarray(all, { minLength: all.length });
      return fc.record({ all: fc.constant(all), takes, waits: fc.boolean() });
    });
    await fc.assert(
      fc.asyncProperty(order, async ({ all, takes, waits }) => {
        const { pool, made } = poolOf();
        for (const { id, image } of all) pool.expect(id, image);
        const taken: Made[] = [];
        for (const { id, image } of takes) {
          await (waits ? settle() : undefined);
          taken.push(...given(await pool.take(id, image), image));
          expect(made.length - taken.length).toBeLessThanOrEqual(3);
        }
        await settle();
        expect(new Set(taken).size).toBe(taken.length);
        // Nothing is started that nobody will ask for.
        expect(made).toHaveLength(taken.length);
      }),
    );
  });

  it('starts no more at once than it may, and hands on one that is still starting', async () => {
    const starts: ((spare: Made) => void)[] = [];
    const { pool } = poolOf({ start: () => new Promise((resolve) => starts.push(resolve)) });
    for (const id of ['0', '1', '2']) pool.expect(id, 'a');
    expect(starts).toHaveLength(2);
    const taking = pool.take('0', 'a');
    const spare = new Made('a');
    starts[0]?.(spare);
    expect(await taking).toBe(spare);
    await settle();
    expect(starts).toHaveLength(3);
  });

  it('starts none while it may not', async () => {
    let may = false;
    const { pool, made } = poolOf({ mayStart: () => may });
    pool.expect('0', 'a');
    await settle();
    expect(made).toEqual([]);
    may = true;
    pool.fill();
    expect(imagesOf(made)).toEqual(['a']);
  });

  it('replaces one that ended, and leaves its image after three faults until one was of use', async () => {
    const { pool, made } = poolOf({ most: 2 });
    pool.expect('0', 'a');
    for (let round = 1; round <= 3; round += 1) {
      await settle();
      expect(made).toHaveLength(round);
      made.at(-1)?.end();
    }
    await settle();
    expect(made).toHaveLength(3);
    pool.expect('1', 'a');
    expect(await pool.take('0', 'a')).toBeUndefined();
    pool.expect('2', 'b');
    await settle();
    expect(imagesOf(made)).toEqual(['a', 'a', 'a', 'b']);
    expect(await pool.take('2', 'b')).toBe(made[3]);
    pool.worked('a');
    pool.fill();
    await settle();
    expect(await pool.take('1', 'a')).toBe(made[4]);
  });

  it('keeps a failed start to itself', async () => {
    let fails = true;
    const spare = new Made('a');
    const { pool } = poolOf({
      most: 1,
      async start() {
        if (fails) throw new Error('no room');
        return spare;
      },
    });
    pool.expect('0', 'a');
    const taking = pool.take('0', 'a');
    fails = false;
    expect(await taking).toBeUndefined();
    pool.expect('1', 'a');
    await settle();
    expect(await pool.take('1', 'a')).toBe(spare);
  });

  it('discards all at its close, also what is starting, and starts no more', async () => {
    const starts: ((spare: Made) => void)[] = [];
    const { pool } = poolOf({ start: () => new Promise((resolve) => starts.push(resolve)) });
    const [ready, late] = [new Made('a'), new Made('b')];
    pool.expect('0', 'a');
    pool.expect('1', 'b');
    starts[0]?.(ready);
    await settle();
    const closing = pool.close();
    starts[1]?.(late);
    await closing;
    expect([ready.isDiscarded, late.isDiscarded]).toEqual([true, true]);
    pool.expect('2', 'c');
    await settle();
    expect(starts).toHaveLength(2);
    expect(await pool.take('0', 'a')).toBeUndefined();
  });
});
