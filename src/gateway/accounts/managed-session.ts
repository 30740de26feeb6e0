import { oncePer } from "../../core/encoding/once.ts";
import { RecentMap } from "../../core/encoding/recent-map.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import type { Credentials, Lease, SignInResult } from "../../core/ports/accounts.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { Fetch } from "../../core/ports/upstream.ts";
import { readQuotaWindows } from "../providers/answers/provider-quota.ts";
import { getDefaultProvider } from "../providers/provider-registry.ts";
import type { UpstreamAccount } from "../providers/upstream-account.ts";
import type { AccountSession, BudgetedRequest } from "./account-request.ts";
import { type AccountRoute, createUpstreamAccount, signInAccount } from "./account-sign-in.ts";
import { assertAudience } from "./credential-audience.ts";
import { startLeaseRenewal } from "./lease-renewal.ts";
import { getAccountToken } from "./sign-in.ts";

/** A slot on an account, renewed until `end`, together with the account's token. */
export class ManagedSession implements AccountSession {
  readonly lease: Lease;
  readonly #request: BudgetedRequest;
  readonly #stopRenewal: () => void;
  #route: AccountRoute = { fetch: rejectingFetch, proxy: null };
  #account: UpstreamAccount;
  /** The token of the pool. */
  #token = "";
  /** The renewal of the account's access token that this request performs for all others. */
  #renewal: Promise<unknown> | null = null;

  constructor(request: BudgetedRequest, lease: Lease) {
    this.#request = request;
    this.lease = lease;
    this.#stopRenewal = startLeaseRenewal(lease, request.abort);
    this.#account = this.#createAccount("");
  }

  /** Sets how requests with this account reach the provider. */
  setRoute(route: AccountRoute): void {
    this.#route = route;
    this.#account = this.#createAccount("");
  }

  #createAccount(token: string): UpstreamAccount {
    this.#token = token;
    const { retries } = this.#request;
    return { ...createUpstreamAccount(token, this.lease.account.tokenType, this.#route), retries };
  }

  get accountId(): string {
    return this.lease.account.id;
  }

  get account(): UpstreamAccount {
    return this.#account;
  }

  /** Gets a token. `staleToken` is one that the provider has refused. Aborting the request ends the wait at once. */
  async signIn(staleToken?: string): Promise<void> {
    const initialToken = staleToken === undefined ? this.lease.initialToken : null;
    if (initialToken !== null) {
      this.#account = this.#createAccount(initialToken);
      return;
    }
    const { abort, context, onSignInWait } = this.#request;
    const startedAt = context.platform.now();
    try {
      this.#account = this.#createAccount(await resultOrAbort(this.#obtainToken(staleToken), abort.signal));
    } finally {
      onSignInWait?.(this.accountId, startedAt);
    }
  }

  reportAnswering(): void {
    this.lease.reportSuccess().catch(() => undefined);
  }

  async runWithToken<T>(operation: (account: UpstreamAccount) => Promise<T>): Promise<T> {
    const { retries } = this.#request;
    retries.beginScope("call");
    try {
      return await operation(this.#account);
    } catch (error) {
      const isExpired = error instanceof ProviderError && error.kind === "token_expired";
      if (!isExpired || !retries.take("token", error)) throw error;
      await this.signIn(this.#token);
      return operation(this.#account);
    }
  }

  /** Reports the quotas that an answer of the provider states: at once when one is exhausted, else once a minute. */
  reportQuota(provider: string, headers: Headers): void {
    const { platform } = this.#request.context;
    const now = platform.now();
    const windows = readQuotaWindows(headers, now);
    if (windows.length === 0) return;
    const recent = getReportedQuotas(platform);
    const key = `${provider} ${this.accountId} ${this.#request.model}`;
    const hasExhausted = windows.some(({ isExhausted }) => isExhausted);
    if (!hasExhausted && recent.get(key, now) === true) return;
    recent.set(key, true, now);
    this.lease.reportQuota(windows).catch(() => undefined);
  }

  /** Releases the slot; after a renewal in progress, because the pool would start another one. */
  end(): void {
    const release = () => {
      this.#stopRenewal();
      this.lease.release();
    };
    if (this.#renewal === null) release();
    else this.#request.context.waitUntil(this.#renewal.then(release, release));
  }

  #obtainToken(staleToken?: string): Promise<string> {
    const obtaining = getAccountToken(
      this.lease,
      (credentials) => {
        if (credentials.auth !== undefined) this.#renewal = obtaining;
        return this.#signIn(credentials);
      },
      staleToken,
      this.#request.abort.signal,
      (audience) => assertAudience(this.#request, audience),
    ).finally(() => {
      this.#renewal = null;
    });
    return obtaining;
  }

  async #signIn(credentials: Credentials): Promise<SignInResult> {
    const { abort, context, provider = getDefaultProvider(context.platform) } = this.#request;
    const timeoutController = new AbortController();
    const timer = setTimeout(() => {
      timeoutController.abort(
        new ProviderError("timeout", "the provider did not answer the sign-in in time"),
      );
    }, provider.timeouts.firstByteTimeoutMs);
    // The client's departure does not end a renewal: a refresh token may be valid only once,
    // and the answer has the next one.
    const signal =
      credentials.auth === undefined
        ? AbortSignal.any([abort.signal, timeoutController.signal])
        : timeoutController.signal;
    try {
      const { platform } = context;
      return await signInAccount({ platform, provider }, credentials, this.#route, signal);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Most accounts whose last report of quotas is remembered, and for how long, milliseconds. */
const MAX_REPORTED = 1_000;
const REPORT_INTERVAL_MS = 60_000;

const getReportedQuotas = oncePer((_: Platform) => new RecentMap<true>(MAX_REPORTED, REPORT_INTERVAL_MS));

/** Before the account's proxy is known, no request is sent. */
const rejectingFetch: Fetch = () =>
  Promise.reject(new ProviderError("unreachable", "the account is not ready"));

/** The result of `operation`. Rejects with the signal's reason as soon as `signal` is aborted. */
async function resultOrAbort<T>(operation: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([operation, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
