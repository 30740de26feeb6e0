/**
 * Something that lives at one account of a provider, for example a container or a cached prompt. Requests that name it must
 * go to that account.
 */
export interface AccountState {
  /** The provider's own id. */
  readonly id: string;
  /** The identifier of the account. */
  readonly account: string;
  /** The JSON text of the object as the caller saw it last, for kinds that callers can list. */
  readonly lastSeen?: string;
  /** Milliseconds since the epoch, after which the gateway forgets it. */
  readonly expiresAt: number;
}

/** What lives at accounts for one caller, without expired entries. */
export interface AccountStateStore {
  get(id: string): Promise<AccountState | null>;
  /** All entries, the oldest first. */
  list(): Promise<readonly AccountState[]>;
  put(state: AccountState): Promise<void>;
  remove(id: string): Promise<boolean>;
}
