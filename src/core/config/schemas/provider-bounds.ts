/** Largest values of a provider's settings. The schema and the console's form check them. */
export const PROVIDER_BOUNDS = {
  accountSlots: 4_096,
  affinityWaitMs: 60_000,
  /** One year. */
  modelsRefreshHours: 8_760,
  /** The longest delay of a timer. */
  timeoutMs: 2_147_483_647,
} as const;

/** Longest time for which a cached answer is served again: 30 days. */
export const MAX_CACHE_SECONDS = 2_592_000;
