import { createHash } from 'node:crypto';

/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** Whole, both ends included. */
  between(low: number, high: number): number;
  pick<T>(from: readonly [T, ...T[]] | readonly T[]): T;
}

export function seededRandom(seed: string): Random {
  let drawn = 0;
  function between(low: number, high: number): number {
    drawn += 1;
    const bits = createHash('sha256').update(`${seed} ${drawn}`).digest().readUInt32BE(0);
    return low + (bits % (high - low + 1));
  }
  return {
    between,
    pick(from) {
      const picked = from[between(0, from.length - 1)];
      if (picked === undefined) throw new RangeError('nothing to pick from');
      return picked;
    },
  };
}
