import type { HistogramBuckets, Percentiles } from "../../core/ports/histograms.ts";
import { type SqlRow, textIn } from "../../core/storage/sql.ts";

/**
 * Distributions of milliseconds in exponential buckets with a growth factor of 2^(1/8), about 1.09. Two distributions are
 * added by adding their buckets, and values read from them are accurate to 5 %. Bucket 0 is below a millisecond; bucket n is
 * above 2^((n-1)/8) and at most 2^(n/8).
 */
const STEPS = 8;
/** Two days: nothing takes longer. */
const LAST_BUCKET = 220;

/** The bucket of a duration in milliseconds. */
export function findBucket(milliseconds: number): number {
  if (!(milliseconds >= 1)) return 0;
  return Math.min(Math.max(Math.ceil(Math.log2(milliseconds) * STEPS), 1), LAST_BUCKET);
}

/** The value in milliseconds that represents a bucket: at most 5 % from any value in it. */
export function getBucketMiddle(bucket: number): number {
  if (bucket <= 0) return 0;
  const upper = 2 ** (bucket / STEPS);
  const lower = 2 ** ((bucket - 1) / STEPS);
  return Math.max(1, (2 * lower * upper) / (lower + upper));
}

/** Counts a duration in a distribution. Returns it as it counts in a sum: whole milliseconds, not negative. */
export function addDuration(buckets: Record<string, number>, milliseconds: number): number {
  const rounded = Math.max(0, Math.round(milliseconds));
  const bucket = findBucket(rounded);
  buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  return rounded;
}

/** Parses a distribution from a JSON column; empty if the column is. */
export function parseBuckets(row: SqlRow | undefined, column: string): HistogramBuckets {
  const text = textIn(row, column);
  if (text === "") return {};
  const buckets: HistogramBuckets = JSON.parse(text);
  return buckets;
}

/** Adds two distributions. */
export function mergeBuckets(first: HistogramBuckets, second: HistogramBuckets): HistogramBuckets {
  const merged: Record<string, number> = { ...first };
  for (const [bucket, count] of Object.entries(second)) merged[bucket] = (merged[bucket] ?? 0) + count;
  return merged;
}

/** Percentiles of a distribution, in whole milliseconds; null if it is empty. */
export function computePercentiles(buckets: HistogramBuckets): Percentiles | null {
  const counts = Object.entries(buckets)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .sort(([a], [b]) => a - b);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return null;
  const percentile = (share: number): number => {
    const rank = Math.ceil(share * total);
    let cumulative = 0;
    for (const [bucket, count] of counts) {
      cumulative += count;
      if (cumulative >= rank) return Math.round(getBucketMiddle(bucket));
    }
    return 0;
  };
  return { p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99) };
}
