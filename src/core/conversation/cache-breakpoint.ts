/**
 * A cache breakpoint: the caller asks the provider to cache the prompt up to here, so that a later request with the same
 * beginning is cheaper. A provider without cache breakpoints ignores it.
 */
export interface CacheBreakpoint {
  /** Time to live in the message style's form: `5m`, `1h`. Absent: the provider's default. */
  readonly ttl?: string;
}
