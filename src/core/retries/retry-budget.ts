import { GatewayError } from "../errors/gateway-error.ts";
import { ProviderError } from "../errors/provider-error.ts";
import {
  MAX_ATTEMPTS,
  MAX_RETRY_TIME_MS,
  RETRY_RULES,
  type RetryKind,
  type RetryScope,
} from "./retry-policy.ts";

/** Where an attempt goes. */
export interface AttemptTarget {
  /** The id of a configured provider; empty for the default provider. */
  readonly provider: string;
  /** Empty: the caller's own token. */
  readonly account: string;
  readonly model: string;
}

/** One attempt of a request. */
export interface Attempt extends AttemptTarget {
  /** Why the attempt was made; empty for the first one. */
  readonly cause: RetryKind | "";
  /** When it began, Unix milliseconds. */
  readonly at: number;
  /** How long it took, milliseconds; null while it runs. */
  ms: number | null;
  /** The HTTP status of the failure, as the provider or the gateway states it; 0: none. */
  status: number;
  /** A `ProviderErrorKind`, or the code of an error of the gateway; empty: it has not failed. */
  reason: string;
}

/** Most attempts that are listed. */
const MAX_LISTED = 40;

/** The scopes whose counting begins anew together with one. */
const INNER_SCOPES: Readonly<Record<RetryScope, readonly RetryScope[]>> = {
  request: ["request", "model", "account", "call"],
  model: ["model", "account", "call"],
  account: ["account", "call"],
  call: ["call"],
};

/** Decides on every retry of one request (`retry-policy.ts`), and lists its attempts. */
export class RetryBudget {
  readonly #now: () => number;
  readonly #maxRetries: number;
  readonly #taken = new Map<RetryKind, number>();
  readonly #attempts: Attempt[] = [];
  #current: Attempt | null = null;
  #cause: RetryKind | "" = "";
  #begunAttempts = 0;
  #attemptCount = 0;
  /** Attempts without those that only adapt the same call. */
  #fullAttemptCount = 0;
  #startedAt: number | null = null;

  /**
   * @param now the time, Unix milliseconds
   * @param maxRetries a limit of all retries together. Those that the provider does not see, and those of a call's own
   *   scope, which only adapt the call, do not count.
   */
  constructor(now: () => number, maxRetries = Number.POSITIVE_INFINITY) {
    this.#now = now;
    this.#maxRetries = maxRetries;
  }

  /** How many attempts began with an account or a caller's own token; retries of the same call do not count. */
  get begunAttempts(): number {
    return this.#begunAttempts;
  }

  /** The first attempts, in their order. */
  get attempts(): readonly Readonly<Attempt>[] {
    return this.#attempts;
  }

  /** How many retries of a kind were taken in its scope. */
  countTaken(kind: RetryKind): number {
    return this.#taken.get(kind) ?? 0;
  }

  /** Begins the counting of a scope, and of the scopes in it, anew. */
  beginScope(scope: RetryScope): void {
    for (const kind of this.#taken.keys()) {
      if (INNER_SCOPES[scope].includes(RETRY_RULES[kind].scope)) this.#taken.delete(kind);
    }
  }

  /**
   * Asks for a retry after `error`. If it is granted, it is used up. Retries of a call, and next turns, continue with the
   * same account as a new attempt; others begin with {@link beginAttempt}.
   *
   * @param max a lower limit for this kind than that of the policy
   */
  take(kind: RetryKind, error: unknown, max = Number.POSITIVE_INFINITY): boolean {
    const rule = RETRY_RULES[kind];
    const taken = this.countTaken(kind);
    const now = this.#now();
    const isUnseen = "isUnseen" in rule;
    const isSpent =
      !isUnseen &&
      (this.#attemptCount >= MAX_ATTEMPTS ||
        (rule.scope !== "call" && this.#fullAttemptCount > this.#maxRetries));
    const isLate = this.#startedAt !== null && now - this.#startedAt >= MAX_RETRY_TIME_MS;
    if (taken >= Math.min(rule.max, max) || isSpent || isLate) return false;
    this.#taken.set(kind, taken + 1);
    this.#cause = kind;
    if (isUnseen && this.#current !== null) {
      this.#attemptCount -= 1;
      this.#fullAttemptCount -= 1;
    }
    const target = this.#current;
    this.endAttempt(error);
    if (target === null) return true;
    const isNextTurn = "isNextTurn" in rule;
    if (isNextTurn) this.#fullAttemptCount += 1;
    if (rule.scope === "call" || isNextTurn) this.#addAttempt(target);
    return true;
  }

  /** Notes that an attempt begins. */
  beginAttempt({ provider, account, model }: AttemptTarget): void {
    this.beginScope("account");
    this.#begunAttempts += 1;
    this.#fullAttemptCount += 1;
    this.#addAttempt({ provider, account, model });
  }

  /** Notes how the current attempt ended. Null: it succeeded. Does nothing if it has ended already. */
  endAttempt(error: unknown): void {
    const attempt = this.#current;
    if (attempt === null) return;
    this.#current = null;
    attempt.ms = Math.max(0, this.#now() - attempt.at);
    if (error === null) return;
    attempt.reason = "internal_error";
    if (!(error instanceof ProviderError || error instanceof GatewayError)) return;
    attempt.status = error.status;
    attempt.reason = error instanceof ProviderError ? error.kind : error.code;
  }

  #addAttempt({ provider, account, model }: AttemptTarget): void {
    const at = this.#now();
    this.#startedAt ??= at;
    this.#attemptCount += 1;
    this.#current = { cause: this.#cause, provider, account, model, at, ms: null, status: 0, reason: "" };
    this.#cause = "";
    if (this.#attempts.length < MAX_LISTED) this.#attempts.push(this.#current);
  }
}
