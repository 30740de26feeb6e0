/** How often the holder of a lease sends a heartbeat, milliseconds. */
export const HEARTBEAT_MS = 500;

/**
 * How long a slot may be used after the acquire message was sent, until the pool confirms the lease by a heartbeat. It is
 * short because a restarted pool must wait this long: the most recent grants are not stored durably. Milliseconds.
 */
export const UNCONFIRMED_HOLD_MS = 1_200;

/**
 * The same after a heartbeat: the isolate is then in the pool's storage, so a restarted pool knows that it must wait for
 * it.
 */
export const CONFIRMED_HOLD_MS = 10_000;

/**
 * How long a restarted pool holds slots back for leases that were just granted: `UNCONFIRMED_HOLD_MS` plus time to end the
 * work.
 */
export const CLAIM_MS = 1_500;

/**
 * The same for a registered isolate that has been silent since the restart; also the lifetime of a lease that is not
 * renewed.
 */
export const LEASE_TTL_MS = 12_000;

/** How long a request that sets no limit waits for a slot, milliseconds. */
export const DEFAULT_WAIT_MS = 60_000;
