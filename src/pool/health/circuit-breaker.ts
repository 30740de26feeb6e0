import { PROVIDER_ERROR_KINDS, type ProviderErrorKind } from "../../core/errors/provider-error.ts";
import type { AccountFailure } from "../../core/ports/accounts.ts";
import { DAY_MS } from "../../core/units.ts";
import { describeReason } from "./failure-reason.ts";

/** Returns `text` when it is a kind of failure, otherwise null. */
export function parseFailureKind(text: string): ProviderErrorKind | null {
  return PROVIDER_ERROR_KINDS.find((kind) => kind === text) ?? null;
}

/** A series of failures without a success in between. It stays after `until`, so that the next failure rests for longer. */
export interface Cooldown {
  readonly kind: ProviderErrorKind;
  /** Shown to administrators; contains no secret. */
  readonly reason: string;
  /** Consecutive failures. */
  readonly failures: number;
  /** End of the cooldown, Unix milliseconds. */
  readonly until: number;
}

/** The first and the longest cooldown of a series of failures, milliseconds; each is twice as long as the one before. */
export interface Backoff {
  readonly first: number;
  readonly longest: number;
}

/** Rate limits and provider failures are short-lived; a refused account needs an administrator, or at least time. */
const RATE_LIMIT: Backoff = { first: 5_000, longest: 120_000 };
/** A proxy may be restarted at any moment. */
const PROXY: Backoff = { first: 5_000, longest: 300_000 };
const REFUSED: Backoff = { first: 15_000, longest: 900_000 };

/** Longest wait that a provider can state, milliseconds: quotas of a month exist. */
const MAX_STATED_WAIT_MS = 32 * DAY_MS;
/** The circuit of an account opens after this many provider failures in a row, while the provider works with others. */
const MAX_STRIKES = 3;
/** An account, proxy or model that has never worked may get this many requests before its first result. */
const UNPROVEN_ALLOWANCE = 3;
/** When the running probes have had no result for this long, one more probe is allowed. Milliseconds. */
export const PROBE_TIMEOUT_MS = 10_000;

/**
 * Computes the cooldown after one more failure at `now` (Unix milliseconds). For a rate limit it uses the provider's
 * `Retry-After`; otherwise it doubles the previous duration (exponential backoff).
 *
 * @param backoff by default what fits the failure
 */
export function nextCooldown(
  previous: Cooldown | null,
  failure: AccountFailure,
  now: number,
  backoff?: Backoff,
): Cooldown {
  const { kind, fault, retryAfter } = failure;
  const failures = (previous?.failures ?? 0) + 1;
  const limited = kind === "rate_limited";
  const { first, longest } =
    backoff ?? (fault === "proxy" ? PROXY : limited || fault === "provider" ? RATE_LIMIT : REFUSED);
  const duration =
    limited && retryAfter !== null
      ? Math.min(MAX_STATED_WAIT_MS, Math.max(1, retryAfter) * 1000)
      : Math.min(longest, first * 2 ** Math.min(failures - 1, 30));
  return { kind, reason: describeReason(failure), failures, until: now + duration };
}

/**
 * The circuit breaker of an account, a proxy or a model.
 *
 * - Closed: it has worked since its last failure. Any number of requests may use it.
 * - Open: it has failed and cools down. Others are used.
 * - Half-open: the cooldown is over, or it was never used. While others work, few requests probe it: one after a failure, a
 *   few when it was never used. So a failing account costs few attempts, however many slots it has. The first success
 *   closes the circuit.
 *
 * {@link ProviderBreaker} decides for a whole provider, from the failures of several accounts.
 */
export class CircuitBreaker {
  /** The current series of failures; null: it has worked since. */
  cooldown: Cooldown | null = null;
  /** Whether the cooldown is still running. */
  isOpen = false;
  /** Serial number of the newest lease at the last failure. Results of leases up to this one are ignored. */
  #failedAtSerial = 0;
  /** Failures of the provider in a row that opened no circuit. */
  #strikes = 0;
  /** How many requests may probe it at once. `Infinity`: the circuit is closed. */
  #allowance = UNPROVEN_ALLOWANCE;
  /** Requests that currently use it and were granted since the last failure. */
  #probes = 0;
  #lastProbeAt = 0;
  /** Number of the period since the last failure: results of requests from earlier periods are ignored. */
  #period = 1;

  /** Whether a lease with this serial number was granted after the last failure. */
  isCurrent(serial: number): boolean {
    return serial > this.#failedAtSerial;
  }

  /** Whether it has worked since its last failure. */
  get isProven(): boolean {
    return this.#allowance === Number.POSITIVE_INFINITY;
  }

  /** Whether a request must report a success: the circuit is not closed, or the last request failed. */
  get awaitsSuccess(): boolean {
    return !this.isProven || this.cooldown !== null || this.#strikes > 0;
  }

  /** End of the running cooldown, Unix milliseconds; 0: none is running. */
  get openUntil(): number {
    return this.isOpen ? (this.cooldown?.until ?? 0) : 0;
  }

  /** Opens the circuit. `newest` is the serial number of the newest lease. */
  recordFailure(failure: AccountFailure, newest: number, now: number, backoff?: Backoff): void {
    this.cooldown = nextCooldown(this.cooldown, failure, now, backoff);
    this.isOpen = true;
    this.#failedAtSerial = newest;
    this.requireProbe();
  }

  /** Records a failure of the provider that may have nothing to do with the account. Returns true if the circuit opens. */
  recordStrike(failure: AccountFailure, newest: number, now: number): boolean {
    this.#failedAtSerial = newest;
    this.#strikes += 1;
    if (this.#strikes < MAX_STRIKES) return false;
    this.recordFailure(failure, newest, now);
    return true;
  }

  /**
   * Records a success of a request that was granted after the last failure. Returns true if anything changes.
   *
   * @param proves false: a success says nothing about it, only that its last failure is over
   */
  recordSuccess(proves = true): boolean {
    this.#strikes = 0;
    const wasProven = this.isProven;
    if (proves) this.markProven();
    if (this.cooldown === null && wasProven === this.isProven) return false;
    this.cooldown = null;
    this.isOpen = false;
    return true;
  }

  /** The cooldown is over: the circuit is half-open. */
  endCooldown(): void {
    this.isOpen = false;
  }

  /** Replaces the state by a stored one. */
  restore(cooldown: Cooldown | null, isProven: boolean, now: number): void {
    this.cooldown = cooldown;
    this.isOpen = cooldown !== null && cooldown.until > now;
    if (cooldown !== null) this.requireProbe();
    else if (isProven) this.markProven();
  }

  /** Forgets everything: it was replaced by another one. */
  reset(): void {
    this.cooldown = null;
    this.isOpen = false;
    this.#strikes = 0;
    this.#startPeriod(UNPROVEN_ALLOWANCE);
  }

  /** Whether one more request may use it. */
  get hasAllowance(): boolean {
    return this.#probes < this.#allowance;
  }

  /** When one more probe is allowed, Unix milliseconds. */
  get nextProbeAt(): number {
    return this.#lastProbeAt + PROBE_TIMEOUT_MS;
  }

  /** A request was granted a slot. Returns the period to pass to `endProbe`. */
  startProbe(now: number): number {
    this.#probes += 1;
    this.#lastProbeAt = now;
    return this.#period;
  }

  /** A request of that period has released its slot. */
  endProbe(period: number): void {
    if (period === this.#period) this.#probes -= 1;
  }

  /** The probes have had no result so far: allows one more. */
  allowAnotherProbe(now: number): void {
    this.#allowance += 1;
    this.#lastProbeAt = now;
  }

  /** It or its proxy has failed: one request must try it before others use it. */
  requireProbe(): void {
    this.#startPeriod(1);
  }

  /** It works: any number of requests may use it. */
  markProven(): void {
    this.#allowance = Number.POSITIVE_INFINITY;
  }

  #startPeriod(allowance: number): void {
    this.#allowance = allowance;
    this.#probes = 0;
    this.#period += 1;
  }
}
