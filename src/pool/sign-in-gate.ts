import type { AccountFailure, Credentials, SignedIn, TokenAnswer } from "../platform/accounts.ts";

/** A token together with the times (Unix milliseconds) that decide whether it still serves; `expiresAt` 0: unknown. */
export interface HeldToken {
  readonly token: string;
  readonly expiresAt: number;
  readonly issuedAt: number;
}

/** A token that ends within this time is not handed out any more. */
const EXPIRY_MARGIN_MS = 10_000;

/** Pause after a failed periodic refresh while the old token still works. */
const REFRESH_PAUSE_MS = 300_000;

/** It is good for as long as its holder's lease lives. */
interface Ticket {
  readonly id: string;
  readonly holder: string;
}

interface Waiting {
  readonly holder: string;
  readonly settle: (answer: TokenAnswer) => void;
}

/**
 * Lets one request sign an account in while all others wait for the outcome. Pure: it never talks to the provider, it
 * only says who does.
 */
export class SignInGate {
  #held: HeldToken | null = null;
  #ticket: Ticket | null = null;
  #waiting: Waiting[] = [];
  #serial = 0;
  #noRefreshBefore = 0;

  get held(): HeldToken | null {
    return this.#held;
  }

  /** Whether a lease that ends may concern the gate. */
  get busy(): boolean {
    return this.#ticket !== null || this.#waiting.length > 0;
  }

  /**
   * Replaces the token without a sign-in, for example by one that the configuration names. What a sign-in under way brings is
   * of the credentials, or the provider, of before: it counts no more, and who waits for it signs in anew, with `credentials`.
   */
  hold(token: HeldToken | null, now: number, credentials: Credentials | null): void {
    this.#held = token;
    this.#ticket = null;
    if (token === null) this.#passOn(now, credentials);
    else this.#answerAll({ token: token.token });
  }

  /** Ends what was known of the account as it was, before `hold` says what it is now: until then whoever waits goes on waiting. */
  withdraw(): void {
    this.#held = null;
    this.#ticket = null;
  }

  /** Whether there is a token that serves at `now`. */
  usable(now: number): boolean {
    return this.#usable(now) !== null;
  }

  /** Whether a token that still serves is old enough to be signed in anew. */
  due(now: number, refreshMs: number): boolean {
    const held = this.#held;
    return refreshMs > 0 && held !== null && now - held.issuedAt >= refreshMs && now >= this.#noRefreshBefore;
  }

  /** The token to hand out with a grant, or null when the request must ask with {@link request}. */
  peek(now: number, refreshMs: number, canSignIn: boolean): string | null {
    const token = this.#usable(now);
    if (token === null) return null;
    return canSignIn && this.#ticket === null && this.due(now, refreshMs) ? null : token;
  }

  /**
   * Answers one request, held by lease `holder`: with the token, with the ticket, or later. `stale` is a token that the
   * provider has refused; another one that came meanwhile is handed out without a sign-in.
   */
  request(
    holder: string,
    stale: string | undefined,
    now: number,
    refreshMs: number,
    credentials: Credentials | null,
  ): TokenAnswer | Promise<TokenAnswer> {
    if (credentials === null) {
      const only = this.#usable(now);
      return only === null || only === stale ? { failed: NO_CREDENTIALS } : { token: only };
    }
    if (this.#held !== null && this.#held.token === stale) this.#held = null;
    const token = this.#usable(now);
    const busy = this.#ticket !== null;
    if (token !== null && (busy || !this.due(now, refreshMs))) return { token };
    if (!busy) return this.#issue(holder, now, credentials);
    return new Promise((settle) => this.#waiting.push({ holder, settle }));
  }

  /** Redeems a ticket. False when it is not, or no longer, the valid one and a token is there already. */
  signedIn(ticket: string, result: SignedIn, now: number): boolean {
    if (this.#ticket?.id !== ticket) return false;
    this.#ticket = null;
    this.#held = { token: result.token, expiresAt: result.expiresAt * 1000, issuedAt: now };
    this.#answerAll({ token: result.token });
    return true;
  }

  /** Gives a ticket up. False when it is not the valid one. */
  failed(ticket: string, failure: AccountFailure, now: number): boolean {
    if (this.#ticket?.id !== ticket) return false;
    this.#ticket = null;
    this.#noRefreshBefore = now + REFRESH_PAUSE_MS;
    this.#answerAll({ failed: failure });
    return true;
  }

  /** A lease ended. If it held the ticket, the request that has waited longest gets a new one. */
  holderGone(holder: string, now: number, credentials: Credentials | null): void {
    this.#waiting = this.#waiting.filter((waiting) => {
      if (waiting.holder !== holder) return true;
      waiting.settle({ failed: HOLDER_GONE });
      return false;
    });
    if (this.#ticket?.holder !== holder) return;
    this.#ticket = null;
    this.#passOn(now, credentials);
  }

  #usable(now: number): string | null {
    const held = this.#held;
    if (held === null) return null;
    return held.expiresAt === 0 || held.expiresAt - EXPIRY_MARGIN_MS > now ? held.token : null;
  }

  #issue(holder: string, now: number, credentials: Credentials): TokenAnswer {
    this.#serial += 1;
    this.#ticket = { id: `${holder}/${this.#serial}`, holder };
    const current = this.#usable(now);
    const ticket = { ticket: this.#ticket.id, credentials };
    return { signIn: current === null ? ticket : { ...ticket, current } };
  }

  #passOn(now: number, credentials: Credentials | null): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    if (credentials === null) {
      next.settle({ failed: NO_CREDENTIALS });
      this.#answerAll({ failed: NO_CREDENTIALS });
      return;
    }
    next.settle(this.#issue(next.holder, now, credentials));
  }

  #answerAll(answer: TokenAnswer): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { settle } of waiting) settle(answer);
  }
}

/** An account without a password has no other token than its own. */
const NO_CREDENTIALS: AccountFailure = {
  kind: "invalid_credentials",
  message: "the account's token is missing or refused, and it has no password to sign in with",
  status: 401,
  fault: "account",
  retryAfter: null,
};

/** Seen by nobody in practice: the request that would read it has ended. */
const HOLDER_GONE: AccountFailure = {
  kind: "unreachable",
  message: "the lease has ended",
  status: 0,
  fault: null,
  retryAfter: null,
};
