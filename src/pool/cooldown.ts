import { PROVIDER_ERROR_KINDS, type ProviderErrorKind } from "../core/errors/provider-error.ts";
import type { AccountFailure } from "../core/ports/accounts.ts";

/** Returns `text` when it is a kind of failure, otherwise null. */
export function parseFailureKind(text: string): ProviderErrorKind | null {
  return PROVIDER_ERROR_KINDS.find((kind) => kind === text) ?? null;
}

/** A series of failures of one account. It stays after `until`, so that the next failure causes a longer cooldown. */
export interface Cooldown {
  readonly kind: ProviderErrorKind;
  /** Shown to administrators; contains no secret. */
  readonly reason: string;
  /** Consecutive failures. */
  readonly failures: number;
  /** End of the cooldown, Unix milliseconds. */
  readonly until: number;
}

/**
 * Cooldowns in milliseconds. Rate limits and provider failures are short-lived; a refused account needs an administrator,
 * or at least time.
 */
const RATE_LIMIT = { first: 5_000, longest: 120_000 };
/** A proxy may be restarted at any moment. */
const PROXY = { first: 5_000, longest: 300_000 };
const REFUSED = { first: 15_000, longest: 900_000 };

/** Longest wait that a provider can state, milliseconds: quotas of a month exist. */
const MAX_STATED_WAIT_MS = 32 * 86_400_000;

/** Longest stored reason, in UTF-16 code units. */
const MAX_REASON_LENGTH = 300;

/**
 * Computes the cooldown after one more failure at `now` (Unix milliseconds). For a rate limit it uses the provider's
 * `Retry-After`; otherwise it doubles the previous duration (exponential backoff).
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
      ? Math.min(MAX_STATED_WAIT_MS, Math.max(1, retryAfter) * 1000)
      : Math.min(longest, first * 2 ** Math.min(failures - 1, 30));
  return { kind, reason: message.slice(0, MAX_REASON_LENGTH), failures, until: now + duration };
}
