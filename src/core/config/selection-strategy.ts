/** How the pool selects among the accounts of a provider. */
export const SELECTION_STRATEGIES = ["affinity", "round_robin", "least_busy", "fill_first"] as const;

/** See {@link SELECTION_STRATEGIES}. */
export type SelectionStrategy = (typeof SELECTION_STRATEGIES)[number];

/** Default of a provider's `affinity_wait_ms`, milliseconds. */
export const AFFINITY_WAIT_MS = 500;
