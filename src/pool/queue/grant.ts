import type { AcquireRefusal, LeasedAccount, SharedLimitNames } from "../../core/ports/accounts.ts";
import type { RemainingLimits } from "../../core/ports/subject-limits.ts";

/** A granted slot. */
export interface Grant {
  /** Name of the lease; a secret of its holder. */
  readonly lease: string;
  readonly account: LeasedAccount;
  /** The account's token, or null when the holder must request it. */
  readonly token: string | null;
  /** Whether a success must be reported, because the account or the provider has failed recently. */
  readonly failing: boolean;
  /** Remaining limits of the request's subjects, if they have any. */
  readonly limits?: RemainingLimits;
  /** See `AcquireGrant.configVersion`. */
  readonly configVersion?: number;
  /** See `AcquireGrant.isBranch`. */
  readonly isBranch?: boolean;
  /** See `AcquireGrant.shared`. */
  readonly shared?: SharedLimitNames;
}

export type AcquireOutcome = { readonly granted: Grant } | AcquireRefusal;
