import { RecentMap } from "../../core/encoding/recent-map.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import type { Credentials, Lease } from "../../core/ports/accounts.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { Fetch } from "../../core/ports/upstream.ts";
import type { UpstreamAccount } from "../providers/provider.ts";
import { readQuotaWindows } from "../providers/provider-quota.ts";
import { getDefaultProvider } from "../providers/provider-registry.ts";
import type { AccountSession, BudgetedRequest } from "./account-request.ts";
import { assertAudience } from "./credential-audience.ts";
import { startLeaseRenewal } from "./lease-renewal.ts";
import { getAccountToken } from "./sign-in.ts";

/** A slot on an account, renewed until `end`, together with the account's token. */
export class ManagedSession implements AccountSession {
  readonly lease: Lease;
  readonly #request: BudgetedRequest;
  readonly #stopRenewal: () => void;
  #account: UpstreamAccount;

  constructor(request: BudgetedRequest, lease: Lease) {
    this.#request = request;
    this.lease = lease;
    this.#stopRenewal = startLeaseRenewal(lease, request.context.timers, request.abort);
    this.#account = { token: "", fetch: rejectingFetch, retries: request.retries };
  }

  /** Sets how requests with this account reach the provider. */
  setAccess(access: Pick<UpstreamAccount, "fetch" | "openSocket">): void {
    this.#account = { ...this.#account, ...access };
  }

  get accountId(): string {
    return this.lease.account.id;
  }

  get account(): UpstreamAccount {
    return this.#account;
  }

  /** Gets a token. `staleToken` is one that the provider has refused. Aborting the request ends the wait at once. */
  async signIn(staleToken?: string): Promise<void> {
    const { fetch } = this.#account;
    const initialToken = staleToken === undefined ? this.lease.initialToken : null;
    if (initialToken !== null) {
      this.#account = { ...this.#account, token: initialToken };
      return;
    }
    const { abort, context, onSignInWait } = this.#request;
    const startedAt = context.platform.now();
    try {
      const token = await resultOrAbort(
        obtainToken(this.#request, this.lease, fetch, staleToken),
        abort.signal,
      );
      this.#account = { ...this.#account, token };
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
      await this.signIn(this.#account.token);
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

  /** Releases the slot. */
  end(): void {
    this.#stopRenewal();
    this.lease.release();
  }
}

/** Most accounts whose last report of quotas is remembered, and for how long, milliseconds. */
const MAX_REPORTED = 1_000;
const REPORT_INTERVAL_MS = 60_000;

const reportedQuotas = new WeakMap<Platform, RecentMap<true>>();

function getReportedQuotas(platform: Platform): RecentMap<true> {
  let recent = reportedQuotas.get(platform);
  if (recent === undefined) {
    recent = new RecentMap(MAX_REPORTED, REPORT_INTERVAL_MS);
    reportedQuotas.set(platform, recent);
  }
  return recent;
}

/** Before the account's proxy is known, no request is sent. */
const rejectingFetch: Fetch = () =>
  Promise.reject(new ProviderError("unreachable", "the account is not ready"));

function obtainToken(
  request: BudgetedRequest,
  lease: Lease,
  fetch: Fetch,
  staleToken?: string,
): Promise<string> {
  const { abort, context, provider = getDefaultProvider(context.platform) } = request;
  const signIn = async (credentials: Credentials) => {
    const timeoutController = new AbortController();
    const timer = setTimeout(() => {
      timeoutController.abort(
        new ProviderError("timeout", "the provider did not answer the sign-in in time"),
      );
    }, provider.timeouts.firstByteTimeoutMs);
    try {
      const signal = AbortSignal.any([abort.signal, timeoutController.signal]);
      return await provider.api.signIn(credentials, fetch, signal);
    } finally {
      clearTimeout(timer);
    }
  };
  return getAccountToken(lease, signIn, staleToken, abort.signal, (audience) =>
    assertAudience(request, audience),
  );
}

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
