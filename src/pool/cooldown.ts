import { PROVIDER_ERROR_KINDS, type ProviderErrorKind } from "../errors/provider-error.ts";
import type { AccountFailure } from "../platform/accounts.ts";

/** `text` when it names a kind of failure, otherwise null. */
export function failureKind(text: string): ProviderErrorKind | null {
  return PROVIDER_ERROR_KINDS.find((kind) => kind === text) ?? null;
}

/** A series of failures of one account. It is kept after `until`, so that the next failure cools down for longer. */
export interface Cooldown {
  readonly kind: ProviderErrorKind;
  /** For the administrator; holds no secret. */
  readonly reason: string;
  /** Failures in a row. */
  readonly failures: number;
  /** End of the cooldown, Unix milliseconds. */
  readonly until: number;
}

/** A rate limit passes soon, and so may what the provider has against one account; a refused account needs a person, or at least time. Milliseconds. */
const RATE_LIMIT = { first: 5_000, longest: 120_000 };
/** A proxy may be restarted at any moment. */
const PROXY = { first: 5_000, longest: 300_000 };
const REFUSED = { first: 15_000, longest: 900_000 };

/** How long a provider may ask an account to be left alone, milliseconds. */
const LONGEST_WISH = 900_000;

/** Longest reason that is kept, in UTF-16 units. */
const LONGEST_REASON = 300;

/**
 * The cooldown after one more failure at `now` (Unix milliseconds): as long as the provider wants it when it says so of a
 * limit, otherwise twice as long as the one before.
 */
export function nextCooldown(
  previous: Cooldown | null,
  { kind, message, fault, retryAfter }: AccountFailure,
  now: number,
): Cooldown {
  const failures = (previous?.failures ?? 0) + 1;
  const limited = kind === "rate_limited";
  const { first, longest } =
    fault === "proxy" ? PROXY : limited || fault === "provider" ? RATE_LIMIT : REFUSED;
  const duration =
    limited && retryAfter !== null
      ? Math.min(LONGEST_WISH, Math.max(1, retryAfter) * 1000)
      : Math.min(longest, first * 2 ** Math.min(failures - 1, 30));
  return { kind, reason: message.slice(0, LONGEST_REASON), failures, until: now + duration };
}
