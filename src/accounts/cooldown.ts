import type { ProviderErrorKind } from "../errors/provider-error.ts";

/** The failures that are the account's own. */
const ACCOUNT_FAULTS = [
  "invalid_credentials",
  "token_expired",
  "account_suspended",
  "rate_limited",
] as const satisfies readonly ProviderErrorKind[];

export type AccountFault = (typeof ACCOUNT_FAULTS)[number];

/** `kind` when it is an account's fault, otherwise null. */
export function accountFault(kind: string): AccountFault | null {
  return ACCOUNT_FAULTS.find((fault) => fault === kind) ?? null;
}

/** A series of failures of one account. It is kept after `until`, so that the next failure cools down for longer. */
export interface Cooldown {
  readonly kind: AccountFault;
  /** For the administrator; holds no secret. */
  readonly reason: string;
  /** Failures in a row. */
  readonly failures: number;
  /** End of the cooldown, Unix milliseconds. */
  readonly until: number;
}

/** A rate limit passes soon; a refused account needs a person, or at least time. Milliseconds. */
const RATE_LIMIT = { first: 5_000, longest: 120_000 };
const REFUSED = { first: 15_000, longest: 900_000 };

/** Longest reason that is kept, in UTF-16 units. */
const LONGEST_REASON = 300;

/**
 * The cooldown after one more failure at `now` (Unix milliseconds), twice as long as the one before; null when the failure
 * is not the account's.
 */
export function nextCooldown(
  previous: Cooldown | null,
  kind: ProviderErrorKind,
  reason: string,
  now: number,
): Cooldown | null {
  const fault = accountFault(kind);
  if (fault === null) return null;
  const failures = (previous?.failures ?? 0) + 1;
  const { first, longest } = fault === "rate_limited" ? RATE_LIMIT : REFUSED;
  const duration = Math.min(longest, first * 2 ** Math.min(failures - 1, 30));
  return { kind: fault, reason: reason.slice(0, LONGEST_REASON), failures, until: now + duration };
}
