export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Costs are stored and summed as whole billionths of the unit of the configured prices. */
export const NANO = 1e9;
