/** One account as the pool needs it; the fields are those of the configuration. Empty strings mean "not set". */
export interface PoolAccount {
  readonly id: string;
  readonly email: string;
  readonly mobile: string;
  readonly password: string;
  readonly token: string;
  readonly proxyId: string;
  /** Not used, except by administrators. */
  readonly disabled?: boolean;
  /** How many requests it gets in its turn; one unless given. */
  readonly weight?: number;
  /** Whose account it is. Absent: the default provider's. */
  readonly provider?: string;
  /** Its place among all accounts; with several pools alone. */
  readonly rank?: number;
  /** It lives in another pool by now: requests that have it here may finish, and nobody else gets it. */
  readonly moved?: boolean;
}

/**
 * Several pools ("shards"), each of which has a part of the accounts. An account lives in one of `shards` (`ShardMap` says in
 * which); what one of the `earlier` layouts put elsewhere may still be in use there.
 */
export interface PoolLayout {
  /** Grows with each change of `shards`. */
  readonly generation: number;
  readonly shards: readonly string[];
  /** Empty once nothing is in use any more where it was put before. */
  readonly earlier: readonly (readonly string[])[];
  /** Shards that there were, and are no more. */
  readonly former: readonly string[];
}

/** What a pool that is one of several must know of the others. */
export interface PoolShard {
  /** Its own name. */
  readonly name: string;
  /** Whatever is told with a lower number than something else was told before it. */
  readonly order: number;
  readonly layout: PoolLayout;
}

/** Limits; 0 stands for the recommended value (number of accounts times `perAccount`). */
export interface PoolLimits {
  readonly perAccount: number;
  readonly global: number;
  readonly queue: number;
  /** Longest wait in the queue, milliseconds. */
  readonly queueWaitMs: number;
  /** Age at which a token is signed in anew, milliseconds; 0 for never. */
  readonly tokenRefreshMs: number;
}

/** A proxy that accounts may be bound to. `settings` says whether it has been changed, and holds secrets. */
export interface PoolProxy {
  readonly id: string;
  readonly settings: string;
}

export interface PoolConfiguration {
  readonly accounts: readonly PoolAccount[];
  /** None unless given. */
  readonly proxies?: readonly PoolProxy[];
  /** Slots of each account, by provider, where they are not those of `limits`. */
  readonly perAccount?: Readonly<Record<string, number>>;
  readonly limits: PoolLimits;
  /** Version of the configuration that it is from, where grants tell it. One that is older than what the pool has is not taken over. */
  readonly version?: number;
  /** Absent: there is one pool. */
  readonly shard?: PoolShard;
}
