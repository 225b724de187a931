import type { Distribution } from './distribution.ts';

export interface DrawRequest {
  distribution: Distribution;
  /** The toolsets that work in this run; the others are left out of the draw. */
  available: ReadonlySet<string>;
  seed: number;
  promptId: string;
  /** Lower-case hex SHA-256 of a text's UTF-8 bytes. */
  sha256Hex(text: string): string;
}

/** None of a distribution's toolsets works in this run. */
export class DistributionUnavailableError extends Error {
  override readonly name = 'DistributionUnavailableError';
  readonly distribution: string;
  /** All the distribution's toolsets: any one of them would do. */
  readonly missing: readonly string[];

  constructor(distribution: Distribution, available: ReadonlySet<string>) {
    const missing = Object.keys(distribution.toolsets);
    super(
      `distribution "${distribution.name}": expected at least one of its toolsets to work here ` +
        `(${missing.join(', ')}), got ${[...available].join(', ') || 'none'}`,
    );
    this.distribution = distribution.name;
    this.missing = missing;
  }
}

/**
 * The toolsets of one prompt, in the distribution's order, never none: where the draw gives none,
 * the most probable one (of equals the first listed). A pure function of its request, in which
 * each toolset's draw depends on seed, prompt and its own name alone. Throws
 * `DistributionUnavailableError`.
 */
export function drawToolsets(request: DrawRequest): string[] {
  const { distribution, available } = request;
  const candidates = Object.entries(distribution.toolsets).filter(([name]) => available.has(name));
  const [first, ...others] = candidates;
  if (first === undefined) throw new DistributionUnavailableError(distribution, available);
  const drawn = candidates
    .filter(([name, percent]) => uniform(request, name) * 100 < percent)
    .map(([name]) => name);
  if (drawn.length > 0) return drawn;
  const [likeliest] = others.reduce((best, next) => (next[1] > best[1] ? next : best), first);
  return [likeliest];
}

const HEX_DIGITS_OF_52_BITS = 13;

/** A number from 0 up to, not including, 1. */
function uniform({ seed, promptId, sha256Hex }: DrawRequest, toolset: string): number {
  const digest = sha256Hex(JSON.stringify([seed, promptId, toolset]));
  return Number.parseInt(digest.slice(0, HEX_DIGITS_OF_52_BITS), 16) / 2 ** 52;
}
