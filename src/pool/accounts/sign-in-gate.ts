import type { AccountFailure, Credentials, SignInResult, TokenResult } from "../../core/ports/accounts.ts";

/** A token with the times (Unix milliseconds) that decide whether it is still usable; `expiresAt` 0: unknown. */
export interface CurrentToken {
  readonly token: string;
  readonly expiresAt: number;
  readonly issuedAt: number;
}

/** A token that expires within this time is not handed out, milliseconds. */
const EXPIRY_MARGIN_MS = 10_000;

/** How long before its expiry a token is renewed: this part of its lifetime, and at most this time in milliseconds. */
const RENEWAL_SHARE = 0.2;
const MAX_RENEWAL_MS = 300_000;

/** Pauses after a failed refresh while the old token still works, milliseconds: after a periodic one, and before expiry. */
const REFRESH_PAUSE_MS = 300_000;
const RENEWAL_PAUSE_MS = 30_000;

/** Whether the token expires so soon that it should be renewed. */
function expiresSoon({ expiresAt, issuedAt }: CurrentToken, now: number): boolean {
  if (expiresAt === 0) return false;
  const margin = Math.min(MAX_RENEWAL_MS, (expiresAt - issuedAt) * RENEWAL_SHARE);
  return now >= expiresAt - Math.max(margin, EXPIRY_MARGIN_MS);
}

/** Permission to sign in. Valid as long as its holder's lease lives. */
interface PendingSignIn {
  readonly id: string;
  readonly holder: string;
}

interface Waiting {
  readonly holder: string;
  readonly settle: (answer: TokenResult) => void;
}

/**
 * Lets one request sign an account in while all others wait for the result. It makes no network calls: it only selects the
 * request that signs in.
 */
export class SignInGate {
  #currentToken: CurrentToken | null = null;
  #ticket: PendingSignIn | null = null;
  #waiting: Waiting[] = [];
  #serial = 0;
  #noRefreshBefore = 0;

  get currentToken(): CurrentToken | null {
    return this.#currentToken;
  }

  /** Whether the end of a lease may affect this gate. */
  get hasPendingSignIn(): boolean {
    return this.#ticket !== null || this.#waiting.length > 0;
  }

  /**
   * Replaces the token without a sign-in, for example by one from the configuration. The result of a running sign-in
   * belongs to the old credentials or provider, so it is ignored. If there is no token, the next waiting request signs in
   * with `credentials`.
   */
  replaceToken(token: CurrentToken | null, now: number, credentials: Credentials | null): void {
    this.#currentToken = token;
    this.#ticket = null;
    if (token === null) this.#passTicketOn(now, credentials);
    else this.#answerAll({ token: token.token });
  }

  /** Discards the token and the ticket before `replaceToken` sets new ones; waiting requests keep waiting. */
  reset(): void {
    this.#currentToken = null;
    this.#ticket = null;
  }

  /** Whether there is a token that is usable at `now`. */
  hasUsableToken(now: number): boolean {
    return this.#usableToken(now) !== null;
  }

  /** Whether a new sign-in should replace the token, because of its age or because it expires soon. */
  isRefreshDue(now: number, refreshMs: number): boolean {
    const current = this.#currentToken;
    if (current === null || now < this.#noRefreshBefore) return false;
    return (refreshMs > 0 && now - current.issuedAt >= refreshMs) || expiresSoon(current, now);
  }

  /** The token to send with a grant, or null when the request must call {@link request}. */
  peek(now: number, refreshMs: number, canSignIn: boolean): string | null {
    const token = this.#usableToken(now);
    if (token === null) return null;
    return canSignIn && this.#ticket === null && this.isRefreshDue(now, refreshMs) ? null : token;
  }

  /**
   * Answers the request of lease `holder` with the token, with a ticket to sign in, or later. `stale` is a token that the
   * provider has refused; if a newer token exists, it is returned without a sign-in.
   */
  request(
    holder: string,
    stale: string | undefined,
    now: number,
    refreshMs: number,
    credentials: Credentials | null,
  ): TokenResult | Promise<TokenResult> {
    if (credentials === null) {
      const usable = this.#usableToken(now);
      return usable === null || usable === stale ? { failed: NO_CREDENTIALS } : { token: usable };
    }
    if (this.#currentToken !== null && this.#currentToken.token === stale) this.#currentToken = null;
    const token = this.#usableToken(now);
    const isSigningIn = this.#ticket !== null;
    if (token !== null && (isSigningIn || !this.isRefreshDue(now, refreshMs)))
      return { token, expiresAt: this.#currentToken?.expiresAt ?? 0 };
    if (!isSigningIn) return this.#issueTicket(holder, now, credentials);
    return new Promise((settle) => this.#waiting.push({ holder, settle }));
  }

  /** Redeems a ticket. Returns false when the ticket is not, or no longer, valid. */
  signedIn(ticket: string, result: SignInResult, now: number): boolean {
    if (this.#ticket?.id !== ticket) return false;
    this.#ticket = null;
    this.#currentToken = { token: result.token, expiresAt: result.expiresAt * 1000, issuedAt: now };
    this.#answerAll({ token: result.token });
    return true;
  }

  /** Reports that the sign-in failed and ends the ticket. Returns false when the ticket is not valid. */
  failed(ticket: string, failure: AccountFailure, now: number): boolean {
    if (this.#ticket?.id !== ticket) return false;
    this.#ticket = null;
    const isExpiring = this.#currentToken !== null && expiresSoon(this.#currentToken, now);
    this.#noRefreshBefore = now + (isExpiring ? RENEWAL_PAUSE_MS : REFRESH_PAUSE_MS);
    this.#answerAll({ failed: failure });
    return true;
  }

  /** A lease has ended. If it held the ticket, the request that has waited longest gets a new ticket. */
  onLeaseEnded(holder: string, now: number, credentials: Credentials | null): void {
    this.#waiting = this.#waiting.filter((waiting) => {
      if (waiting.holder !== holder) return true;
      waiting.settle({ failed: LEASE_ENDED });
      return false;
    });
    if (this.#ticket?.holder !== holder) return;
    this.#ticket = null;
    this.#passTicketOn(now, credentials);
  }

  #usableToken(now: number): string | null {
    const current = this.#currentToken;
    if (current === null) return null;
    return current.expiresAt === 0 || current.expiresAt - EXPIRY_MARGIN_MS > now ? current.token : null;
  }

  #issueTicket(holder: string, now: number, credentials: Credentials): TokenResult {
    this.#serial += 1;
    this.#ticket = { id: `${holder}/${this.#serial}`, holder };
    const current = this.#usableToken(now);
    const ticket = { ticket: this.#ticket.id, credentials };
    return { signIn: current === null ? ticket : { ...ticket, current } };
  }

  #passTicketOn(now: number, credentials: Credentials | null): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    if (credentials === null) {
      next.settle({ failed: NO_CREDENTIALS });
      this.#answerAll({ failed: NO_CREDENTIALS });
      return;
    }
    next.settle(this.#issueTicket(next.holder, now, credentials));
  }

  #answerAll(answer: TokenResult): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { settle } of waiting) settle(answer);
  }
}

/** An account without a password can only use its configured token. */
const NO_CREDENTIALS: AccountFailure = {
  kind: "invalid_credentials",
  message:
    "the account's token (its API key) is missing, or the provider refuses it, and there is no password to sign in with",
  status: 401,
  fault: "account",
  retryAfter: null,
};

/** Never seen in practice: the request that would read it has ended. */
const LEASE_ENDED: AccountFailure = {
  kind: "unreachable",
  message: "the lease has ended",
  status: 0,
  fault: null,
  retryAfter: null,
};
