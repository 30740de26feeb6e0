/** How often whoever holds a lease makes sure that it is alive. */
export const BEAT_MS = 500;

/**
 * How long a slot may be used after the message was sent by which it was granted, unless the pool has been heard of since. It
 * is short, because a restarted pool must wait for that long: nothing durable tells who was granted a slot just now.
 */
export const YOUNG_HOLD_MS = 1_200;

/** The same after a beat: from then on the isolate stands in the pool's storage, and a restarted pool knows whom to await. */
export const HOLD_MS = 10_000;

/** How long a restarted pool holds slots back for leases that were just granted: `YOUNG_HOLD_MS`, and time to end the work. */
export const CLAIM_MS = 1_500;

/** The same for an isolate that was heard of before the restart and not since; also the life of a lease nobody renews. */
export const LEASE_TTL_MS = 12_000;
