/** Something started ahead, which belongs to nobody yet. */
export interface Spare {
  /** Resolves when it is gone, by itself or by `discard`. */
  ended: Promise<unknown>;
  /** Never throws. */
  discard(): Promise<void>;
}

export interface SparePoolDeps<T extends Spare> {
  start(image: string): Promise<T>;
  /** Most that wait or start. */
  most: number;
  /** Most that start at once, beside whatever else starts. */
  startsAtOnce: number;
  /** Asked before each start: there may be better use for processor or memory just now. */
  mayStart(): boolean;
}

export interface SparePool<T extends Spare> {
  /** To be called for all that will be asked for, in that order. */
  expect(id: string, image: string): void;
  /**
   * Gives out one of this image, started or about to be, and forgets it; undefined where there is
   * none, or where its start failed. `id` is expected no longer.
   */
  take(id: string, image: string): Promise<T | undefined>;
  /** Says that one of this image was started by somebody else, and of use. */
  worked(image: string): void;
  /** Starts what is expected next and missing; to be called when `mayStart` may have changed. */
  fill(): void;
  /** Discards all, and starts no more. Never throws. */
  close(): Promise<void>;
}

interface Entry<T> {
  image: string;
  isStarted: boolean;
  /** Undefined where the start failed. */
  spare: Promise<T | undefined>;
}

/** Failed starts and early ends of an image in a row after which it is left until one was of use. */
const MAX_FAULTS = 3;

/**
 * Starts ahead what will be asked for next. Its failures are nobody's: whoever asks starts anew.
 * What an image's spare is taken for is decided when it is taken, so that order does not matter.
 */
export function createSparePool<T extends Spare>(deps: SparePoolDeps<T>): SparePool<T> {
  const expected = new Map<string, string>();
  const entries = new Set<Entry<T>>();
  const faults = new Map<string, number>();
  let starting = 0;
  let isClosed = false;

  const faultsOf = (image: string) => faults.get(image) ?? 0;

  function countOfEntries(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { image } of entries) counts.set(image, (counts.get(image) ?? 0) + 1);
    return counts;
  }

  /** The image of the first that is expected within reach, has no spare and may have one. */
  function nextMissing(): string | undefined {
    const free = countOfEntries();
    let seen = 0;
    for (const image of expected.values()) {
      if (seen === deps.most) break;
      seen += 1;
      const left = free.get(image) ?? 0;
      if (left > 0) free.set(image, left - 1);
      else if (faultsOf(image) < MAX_FAULTS) return image;
    }
    return undefined;
  }

  function fill(): void {
    while (!isClosed && starting < deps.startsAtOnce && deps.mayStart()) {
      const image = nextMissing();
      if (image === undefined) return;
      start(image);
    }
  }

  function start(image: string): void {
    starting += 1;
    const entry: Entry<T> = { image, isStarted: false, spare: Promise.resolve(undefined) };
    entry.spare = deps.start(image).then(
      (spare) => {
        entry.isStarted = true;
        void spare.ended.then(() => drop(entry, spare));
        return spare;
      },
      () => {
        drop(entry);
        return undefined;
      },
    );
    entries.add(entry);
    void entry.spare.then(() => {
      starting -= 1;
      fill();
    });
  }

  /** Forgets one that ended before it was of use. */
  function drop(entry: Entry<T>, spare?: T): void {
    if (!entries.delete(entry)) return;
    faults.set(entry.image, faultsOf(entry.image) + 1);
    void spare?.discard();
    fill();
  }

  return {
    expect(id, image) {
      expected.set(id, image);
      fill();
    },
    async take(id, image) {
      expected.delete(id);
      const ofImage = [...entries].filter((entry) => entry.image === image);
      const entry = ofImage.find(({ isStarted }) => isStarted) ?? ofImage[0];
      if (entry !== undefined) entries.delete(entry);
      fill();
      const spare = await entry?.spare;
      if (spare !== undefined) faults.delete(image);
      return spare;
    },
    worked: (image) => void faults.delete(image),
    fill,
    async close() {
      isClosed = true;
      const all = [...entries];
      entries.clear();
      await Promise.all(all.map(async ({ spare }) => (await spare)?.discard()));
    },
  };
}
