/** Number of observations in each bucket of `src/records/usage/histogram.ts`, by bucket number. */
export type HistogramBuckets = Readonly<Record<string, number>>;

/** Milliseconds below which 50, 95 and 99 percent of the observations are, accurate to 5 %; null without observations. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}
