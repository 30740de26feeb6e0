/**
 * The caller asks the provider to keep what the prompt holds up to here, so that a later request with the same beginning is
 * cheaper. A provider without such marks passes over them.
 */
export interface CacheMark {
  /** For how long, as the message style says it: `5m`, `1h`. Absent: as long as is usual. */
  readonly ttl?: string;
}
