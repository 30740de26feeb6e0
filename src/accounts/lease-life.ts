/** Life of a lease that nobody renews. */
export const LEASE_TTL_MS = 30_000;

/** How often a holder renews its lease. */
export const RENEW_INTERVAL_MS = 10_000;
