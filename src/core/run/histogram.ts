/**
 * A histogram of durations with buckets of 9 % width, from 1 ms to 28 days: quantiles are right
 * within 5 %, its size doesn't grow with the count, and two add up to one.
 */
export interface Histogram {
  count: number;
  sum: number;
  max: number;
  /** Count by bucket number. */
  buckets: Record<number, number>;
}

const BUCKETS_PER_DOUBLING = 8;
const LOWEST_SECONDS = 0.001;

export function emptyHistogram(): Histogram {
  return { count: 0, sum: 0, max: 0, buckets: {} };
}

/** Adds a duration in seconds. */
export function addDuration(histogram: Histogram, seconds: number): void {
  const ratio = Math.max(seconds, LOWEST_SECONDS) / LOWEST_SECONDS;
  const bucket = Math.floor(Math.log2(ratio) * BUCKETS_PER_DOUBLING);
  histogram.count += 1;
  histogram.sum += seconds;
  histogram.max = Math.max(histogram.max, seconds);
  histogram.buckets[bucket] = (histogram.buckets[bucket] ?? 0) + 1;
}

export interface DurationSummary {
  count: number;
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

/** Mean and quantiles in seconds; zeros where nothing was added. */
export function summarizeDurations(histogram: Histogram): DurationSummary {
  const { count, sum, max } = histogram;
  return {
    count,
    mean: count === 0 ? 0 : round(sum / count),
    p50: quantile(histogram, 0.5),
    p90: quantile(histogram, 0.9),
    p99: quantile(histogram, 0.99),
    max: round(max),
  };
}

function quantile({ buckets, count, max }: Histogram, share: number): number {
  let seen = 0;
  const numbers = Object.keys(buckets).map(Number);
  for (const bucket of numbers.sort((a, b) => a - b)) {
    seen += buckets[bucket] ?? 0;
    if (seen >= share * count) {
      const middle = LOWEST_SECONDS * 2 ** ((bucket + 0.5) / BUCKETS_PER_DOUBLING);
      return round(Math.min(middle, max));
    }
  }
  return 0;
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
