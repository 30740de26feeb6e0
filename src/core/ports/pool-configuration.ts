import type { AccountAuth } from "../config/schemas/account-auth-schema.ts";

/**
 * `access_token`: an OAuth 2 bearer token (RFC 6750). `aws_keys`: the settings of `aws_sigv4` as JSON, with which each
 * request is signed.
 */
export type TokenType = "access_token" | "aws_keys";

/** How an account gets access tokens. */
export interface RenewableAuth {
  readonly settings: AccountAuth;
  /** Digest of what the account's grant consists of. If it changes, what is stored of the old grant is discarded. */
  readonly grantDigest: string;
}

/** One account's data for the pool, with the names of the configuration. An empty string means "not set". */
export interface PoolAccount {
  readonly id: string;
  readonly email: string;
  readonly mobile: string;
  readonly password: string;
  readonly token: string;
  readonly proxyId: string;
  /**
   * For an account that gets its token from its provider: digest of the provider's endpoint and own token. If it changes,
   * what is stored of the old token is discarded.
   */
  readonly endpointDigest?: string;
  /** Only administrators may use the account. */
  readonly disabled?: boolean;
  /** Absent: the account has a password or a token. */
  readonly auth?: RenewableAuth;
  /** See `LeasedAccount.tokenType`. */
  readonly tokenType?: TokenType;
  /** Requests that the account gets per turn of the rotation; default 1. */
  readonly weight?: number;
  /** The account's provider. Absent: the default provider. */
  readonly provider?: string;
  /** Index among all accounts; only with several pool shards. */
  readonly rank?: number;
  /** The account now belongs to another shard: its running requests may finish here, but it gets no new ones. */
  readonly moved?: boolean;
}

/**
 * The pool shards, each with a part of the accounts. `ShardMap` computes the shard of an account within `shards`. An
 * account that an `earlier` layout put elsewhere may still be in use there.
 */
export interface PoolLayout {
  /** Increases with each change of `shards`. */
  readonly generation: number;
  readonly shards: readonly string[];
  /** Empty once no account is in use on its shard of an earlier layout. */
  readonly earlier: readonly (readonly string[])[];
  /** Removed shards. */
  readonly former: readonly string[];
}

/** What a pool shard must know about the others. */
export interface PoolShard {
  /** Its own name. */
  readonly name: string;
  /** Orders messages: a message with a lower number was sent earlier. */
  readonly order: number;
  readonly layout: PoolLayout;
}

/** Limits; 0 means the recommended value (number of accounts times `perAccount`). */
export interface PoolLimits {
  readonly perAccount: number;
  readonly global: number;
  readonly queue: number;
  /** Maximum wait in the queue, milliseconds. */
  readonly queueWaitMs: number;
  /** Age at which a token is refreshed by a new sign-in, milliseconds; 0 for never. */
  readonly tokenRefreshMs: number;
}

/** A proxy for accounts. `settings` serves to detect a change, and contains secrets. */
export interface PoolProxy {
  readonly id: string;
  readonly settings: string;
}

export interface PoolConfiguration {
  readonly accounts: readonly PoolAccount[];
  /** Default: none. */
  readonly proxies?: readonly PoolProxy[];
  /** Slots per account, by provider, where they differ from `limits`; 0: no limit. */
  readonly perAccount?: Readonly<Record<string, number>>;
  readonly limits: PoolLimits;
  /** Version of the configuration, if grants report it. The pool ignores a version older than its own. */
  readonly version?: number;
  /** Absent if there is only one pool. */
  readonly shard?: PoolShard;
}
