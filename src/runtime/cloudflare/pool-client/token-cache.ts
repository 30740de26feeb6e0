import { HOUR_MS } from "../../../core/units.ts";

/** How long a token without a known expiry is used, milliseconds. */
const MAX_TTL_MS = HOUR_MS;
/**
 * How long before its expiry a token is not used any more:
 * this part of the time that is left, and at most this long in milliseconds.
 */
const EXPIRY_SHARE = 0.2;
const MAX_EXPIRY_MARGIN_MS = 300_000;

/** The tokens that this isolate has from the pool, by account. */
export class TokenCache {
  readonly #tokens = new Map<string, { readonly token: string; readonly until: number }>();
  readonly #now: () => number;

  /** @param now Unix milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A token that is still usable. */
  get(account: string): string | undefined {
    const entry = this.#tokens.get(account);
    return entry !== undefined && entry.until > this.#now() ? entry.token : undefined;
  }

  /** @param expiresAt Unix milliseconds; 0: unknown */
  set(account: string, token: string, expiresAt: number): void {
    const now = this.#now();
    const margin = Math.min(MAX_EXPIRY_MARGIN_MS, (expiresAt - now) * EXPIRY_SHARE);
    const until = expiresAt === 0 ? now + MAX_TTL_MS : Math.min(now + MAX_TTL_MS, expiresAt - margin);
    this.#tokens.set(account, { token, until });
  }

  /** The configuration has changed: tokens may belong to other credentials. */
  clear(): void {
    this.#tokens.clear();
  }
}
