import type { Caller } from "../auth/callers.ts";
import type { Config } from "../config/schema.ts";
import type { LightAbortController } from "../http/light-abort-controller.ts";
import type { KeyScope } from "../limits/allowed.ts";
import type { Expected } from "../limits/quota.ts";
import type { Context } from "../platform/context.ts";
import type { NamedProvider } from "../provider/of-platform.ts";
import type { UpstreamAccount } from "../provider/provider.ts";

/** What an account is wanted for. */
export interface AccountRequest {
  readonly context: Context;
  readonly caller: Caller;
  /** Whose account is wanted; the default provider's unless given. */
  readonly provider?: NamedProvider;
  /** Canonical model id and API style, as the queue status shows them; empty: none. */
  readonly model: string;
  readonly dialect: string;
  /** Ends wait and work; it is aborted here when the slot is lost. */
  readonly abort: LightAbortController;
  /**
   * Whether work that has failed may be done again with another account: nothing of it may have been seen by then. Never,
   * unless given.
   */
  readonly mayRepeat?: () => boolean;
  /** Whether a failure that is nobody's fault is worth another account as well. */
  readonly wantsAnother?: (failure: unknown) => boolean;
  /** How long an account is waited for, milliseconds; as long as the deployment says unless given. */
  readonly waitMs?: number;
  /** What the work is expected to use; nothing, unless given. */
  readonly expected?: () => Expected;
  /** Throws when a key may not be used for the work, or the work not be done; asked when the configuration has been changed meanwhile. */
  readonly permits?: (scope: KeyScope | undefined, newest: Config) => void;
  /** Told of each account that fails, also when no other one is tried. */
  readonly onLeft?: (account: string, failure: unknown) => void;
  /** Told of each time that a token had to be waited for, whether there was one in the end or not: since when. */
  readonly onSignIn?: (account: string, since: number) => void;
}

/** The right to speak to the provider on an account's behalf. */
export interface AccountSession {
  /** Empty in pass-through mode. */
  readonly accountId: string;
  /** The account with its present token. */
  readonly account: UpstreamAccount;
  /** The provider has begun to answer: whatever comes of it, it works. Called again, nothing happens. */
  answered(): void;
  /** Speaks to the provider; again with a fresh token when the present one has expired. */
  call<T>(work: (account: UpstreamAccount) => Promise<T>): Promise<T>;
}
