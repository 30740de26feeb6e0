import type { Buckets, Percentiles } from "../platform/usage.ts";
import { type SqlRow, textIn } from "../storage/sql.ts";

/**
 * Distributions of milliseconds in buckets that grow by a ninth: of any two distributions the sum is that of their buckets, and
 * what is read of it is true to 5 %, whatever the times are. Bucket 0 is less than a millisecond, bucket n what is above
 * 2^((n-1)/8) and at most 2^(n/8).
 */
const STEPS = 8;
/** Two days: nothing takes longer. */
const LAST_BUCKET = 220;

/** The bucket of so many milliseconds. */
export function bucketOf(milliseconds: number): number {
  if (!(milliseconds >= 1)) return 0;
  return Math.min(Math.max(Math.ceil(Math.log2(milliseconds) * STEPS), 1), LAST_BUCKET);
}

/** Milliseconds that stand for a bucket: none of it is further away than 5 %. */
export function middleOf(bucket: number): number {
  if (bucket <= 0) return 0;
  const upper = 2 ** (bucket / STEPS);
  const lower = 2 ** ((bucket - 1) / STEPS);
  return Math.max(1, (2 * lower * upper) / (lower + upper));
}

/** A distribution that a column holds as JSON; an empty one where it holds none. */
export function bucketsIn(row: SqlRow | undefined, column: string): Buckets {
  const text = textIn(row, column);
  if (text === "") return {};
  const buckets: Buckets = JSON.parse(text);
  return buckets;
}

/** The sum of two distributions. */
export function mergedBuckets(one: Buckets, other: Buckets): Buckets {
  const sum: Record<string, number> = { ...one };
  for (const [bucket, count] of Object.entries(other)) sum[bucket] = (sum[bucket] ?? 0) + count;
  return sum;
}

/** Percentiles of a distribution, whole milliseconds; null when it is empty. */
export function percentilesOf(buckets: Buckets): Percentiles | null {
  const counts = Object.entries(buckets)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .sort(([one], [other]) => one - other);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return null;
  const at = (share: number): number => {
    const rank = Math.ceil(share * total);
    let below = 0;
    for (const [bucket, count] of counts) {
      below += count;
      if (below >= rank) return Math.round(middleOf(bucket));
    }
    return 0;
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
