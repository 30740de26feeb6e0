import { type Caller, readmitted } from "../auth/callers.ts";
import { failureWithout } from "../captures/mask.ts";
import { upstreamOf } from "../captures/tap.ts";
import type { Config } from "../config/schema.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { ProviderError } from "../errors/provider-error.ts";
import { checkDialect, checkNetwork, type KeyScope } from "../limits/allowed.ts";
import { type Expected, limitedUse } from "../limits/quota.ts";
import { limitExceeded } from "../limits/refusal.ts";
import type { Credentials, Granted, Lease, MeantFor, RefusalReason } from "../platform/accounts.ts";
import type { Context } from "../platform/context.ts";
import type { Fetch, OutboundProxy } from "../platform/upstream.ts";
import { type NamedProvider, ownProvider, providerNamed, sameParty } from "../provider/of-platform.ts";
import type { UpstreamAccount } from "../provider/provider.ts";
import { Failover } from "./failover.ts";
import { errorOf, failureOf, faultOf } from "./fault.ts";
import { renewLease } from "./lease-renewal.ts";
import { accountToken } from "./sign-in.ts";

/** What an account is wanted for. */
export interface AccountRequest {
  readonly context: Context;
  readonly caller: Caller;
  /** Whose account is wanted; the default provider's unless given. */
  readonly provider?: NamedProvider;
  /** Canonical model id and API style, as the queue status shows them; empty: none. */
  readonly model: string;
  readonly dialect: string;
  /** Ends wait and work; it is aborted here when the slot is lost. */
  readonly abort: AbortController;
  /**
   * Whether work that has failed may be done again with another account: nothing of it may have been seen by then. Never,
   * unless given.
   */
  readonly mayRepeat?: () => boolean;
  /** Whether a failure that is nobody's fault is worth another account as well. */
  readonly wantsAnother?: (failure: unknown) => boolean;
  /** How long an account is waited for, milliseconds; as long as the deployment says unless given. */
  readonly waitMs?: number;
  /** What the work is expected to use; nothing, unless given. */
  readonly expected?: () => Expected;
  /** Throws when a key may not be used for the work, or the work not be done; asked when the configuration has been changed meanwhile. */
  readonly permits?: (scope: KeyScope | undefined, newest: Config) => void;
  /** Told of each account that fails, also when no other one is tried. */
  readonly onLeft?: (account: string, failure: unknown) => void;
  /** Told of each time that a token had to be waited for, whether there was one in the end or not: since when. */
  readonly onSignIn?: (account: string, since: number) => void;
}

/** The right to speak to the provider on an account's behalf. */
export interface AccountSession {
  /** Empty in pass-through mode. */
  readonly accountId: string;
  /** The account with its present token. */
  readonly account: UpstreamAccount;
  /** The provider has begun to answer: whatever comes of it, it works. Called again, nothing happens. */
  answered(): void;
  /** Speaks to the provider; again with a fresh token when the present one has expired. */
  call<T>(work: (account: UpstreamAccount) => Promise<T>): Promise<T>;
}

/**
 * Does work with a provider account, and is the only way to use one: takes a slot (a pass-through caller's own token needs
 * none), renews it while the work lasts, refreshes an expired token once, tells the pool how it went, goes on to other
 * accounts as {@link Failover} says, and gives the slot back, whatever happens. A request that pins its account gets no other.
 *
 * @returns what `work` returns.
 * @throws GatewayError 429 when no slot is granted; whatever the work throws, a `ProviderError` as such. After several
 *   failures, the one that {@link Failover.verdict} chooses.
 */
export async function withAccount<T>(
  request: AccountRequest,
  work: (session: AccountSession) => Promise<T>,
): Promise<T> {
  const { caller, abort, context } = request;
  const { platform, log } = context;
  if (caller.mode === "pass-through") {
    log.attempts = (log.attempts ?? 0) + 1;
    return work(passThrough(request)).catch(refusedAsToken);
  }
  checkDialect(caller.key?.entry, request.dialect);
  const { config } = await context.config();
  const failover = new Failover({
    pinned: caller.targetAccount !== null,
    others: config.runtime.account_failovers,
    until: platform.now() + platform.variables.queueTimeoutMs,
    // One silence before the first byte, and not two.
    othersUntil: platform.now() + 1.5 * patienceOf(request),
  });
  for (;;) {
    const session = await openSession(request, config, failover);
    let begun = false;
    try {
      await session.signIn();
      begun = true;
      const result = await work(session);
      await session.lease.succeeded().catch(() => undefined);
      return result;
    } catch (thrown) {
      // The provider may repeat what it was sent, also within an answer.
      const error = failureWithout(request.provider?.headers ?? {}, thrown);
      // A client that left is no fault of the account.
      if (abort.signal.aborted) {
        session.lease.failed(NOBODYS_FAULT).catch(() => undefined);
        throw error;
      }
      const othersWell = await tell(session.lease, error);
      request.onLeft?.(session.accountId, error);
      const attempt = {
        account: session.accountId,
        error,
        begun,
        othersWell,
        repeatable: request.mayRepeat?.() === true,
        wanted: faultOf(error) === null && request.wantsAnother?.(error) === true,
      };
      if (!failover.goesOn(attempt, platform.now())) throw failover.verdict();
    } finally {
      session.end();
    }
  }
}

/** The proxy of an id; null for an empty one, and for one that no longer exists. */
export function proxyOf(config: Config, proxyId: string): OutboundProxy | null {
  return proxyId === "" ? null : (config.proxies.find((proxy) => proxy.id === proxyId) ?? null);
}

function patienceOf({ context: { platform }, provider }: AccountRequest): number {
  return (provider?.patience ?? platform.variables).firstByteTimeoutMs;
}

/** Whoever meant a key of the gateway is told that it is none: the provider only ever saw a token. */
function refusedAsToken(error: unknown): never {
  if (!(error instanceof ProviderError) || error.kind !== "token_expired") throw error;
  const message = "the API key is none of this gateway's, and the provider refused it as a token of its own";
  throw new ProviderError(error.kind, message, error.status, error, error.retryAfter, error.said);
}

function passThrough({ context, caller, provider }: AccountRequest): AccountSession {
  // What strangers bring is a token of the default provider: no other one is to see it.
  if (provider !== undefined && provider.id !== "") {
    throw new GatewayError(403, "this model needs an API key of the gateway", {
      code: "permission_denied",
      param: "model",
    });
  }
  const account = { token: caller.credential, fetch: upstreamOf(context, null) };
  return { accountId: "", account, answered: () => undefined, call: (work) => work(account) };
}

/** A slot on an account, which is renewed until `end`, and the account's token. */
class ManagedSession implements AccountSession {
  readonly lease: Lease;
  readonly #request: AccountRequest;
  readonly #stopRenewal: () => void;
  #account: UpstreamAccount;

  constructor(request: AccountRequest, lease: Lease) {
    this.#request = request;
    this.lease = lease;
    this.#stopRenewal = renewLease(lease, request.abort);
    this.#account = { token: "", fetch: NOWHERE };
  }

  /** How the provider is spoken to on the account's behalf. */
  speakThrough(fetch: Fetch): void {
    this.#account = { token: "", fetch };
  }

  get accountId(): string {
    return this.lease.account.id;
  }

  get account(): UpstreamAccount {
    return this.#account;
  }

  /** Gets a token; `stale` is one that the provider has refused. Whoever leaves meanwhile is not kept waiting. */
  async signIn(stale?: string): Promise<void> {
    const { fetch } = this.#account;
    const known = stale === undefined ? this.lease.initialToken : null;
    if (known !== null) {
      this.#account = { token: known, fetch };
      return;
    }
    const { abort, context, onSignIn } = this.#request;
    const since = context.platform.now();
    try {
      const token = await orAborted(tokenFor(this.#request, this.lease, fetch, stale), abort.signal);
      this.#account = { token, fetch };
    } finally {
      onSignIn?.(this.accountId, since);
    }
  }

  answered(): void {
    this.lease.succeeded().catch(() => undefined);
  }

  async call<T>(work: (account: UpstreamAccount) => Promise<T>): Promise<T> {
    try {
      return await work(this.#account);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.kind !== "token_expired") throw error;
      await this.signIn(this.#account.token);
      return work(this.#account);
    }
  }

  /** Gives the slot back. */
  end(): void {
    this.#stopRenewal();
    this.lease.release();
  }
}

/** Before it is known through which proxy an account speaks nothing is sent. */
const NOWHERE: Fetch = () => Promise.reject(new ProviderError("unreachable", "the account is not ready"));

/** A use of an account that says nothing of it. */
const NOBODYS_FAULT = failureOf(null);

/** A slot on an account that has not been tried yet. Throws what the caller is told when there is none to be had. */
async function openSession(
  request: AccountRequest,
  config: Config,
  failover: Failover,
): Promise<ManagedSession> {
  const { context } = request;
  const provider = request.provider ?? ownProvider(context.platform);
  const { lease, configVersion } = await acquire(request, config, failover);
  const session = new ManagedSession(request, lease);
  try {
    const isNewer = configVersion !== undefined && (await context.confirmConfig(configVersion));
    const { config: newest } = await context.config();
    if (isNewer) await readmit(request, newest);
    const proxy = proxyOf(newest, lease.account.proxyId || provider.proxyId);
    session.speakThrough(upstreamOf(context, proxy, provider));
  } catch (error) {
    session.end();
    throw error;
  }
  context.log.account = lease.account.id;
  context.log.attempts = (context.log.attempts ?? 0) + 1;
  return session;
}

/** The configuration is another one than that by which the caller was let in: throws what a new request would be told. */
async function readmit(
  { context, caller, dialect, permits, provider }: AccountRequest,
  newest: Config,
): Promise<void> {
  const { key } = await readmitted(context, caller);
  checkNetwork(key?.entry, context.clientAddress);
  checkDialect(key?.entry, dialect);
  permits?.(key?.entry, newest);
  // What is to be sent was made for the one of before, and may not be for this one's eyes.
  if (provider !== undefined && !sameParty(providerNamed(context.platform, newest, provider.id), provider))
    throw justChanged();
}

/** Throws when a token, or credentials, are not for the provider that the request speaks to: it gets no secrets of another one. */
async function confirmMeant(
  { context, provider = ownProvider(context.platform) }: AccountRequest,
  { provider: owner = "", configVersion }: MeantFor,
): Promise<void> {
  if (owner !== provider.id) throw justChanged();
  if (configVersion === undefined) return;
  await context.confirmConfig(configVersion);
  const { config } = await context.config();
  if (!sameParty(providerNamed(context.platform, config, owner), provider)) throw justChanged();
}

/** What a request is told that was made for settings which have been changed meanwhile. */
export function justChanged(): GatewayError {
  return new GatewayError(503, "the provider's settings have just been changed: send the request again", {
    code: "upstream_unavailable",
  });
}

async function acquire(request: AccountRequest, config: Config, failover: Failover): Promise<Granted> {
  const { context, caller, model, dialect, abort } = request;
  const { platform, requestId, log, quota } = context;
  const use = limitedUse(context, caller, config, request.expected);
  // An answer that gets lost on its way may have been a slot.
  if (use !== undefined) quota.counts = true;
  const target = caller.targetAccount;
  const started = platform.now();
  const acquired = await platform.accounts.acquire(
    {
      requestId,
      model,
      dialect,
      ...(request.provider === undefined || request.provider.id === ""
        ? {}
        : { provider: request.provider.id }),
      caller: caller.owner,
      ...(caller.key === null ? {} : { key: caller.key.id }),
      exclude: failover.tried,
      waitMs: request.waitMs ?? platform.variables.queueTimeoutMs,
      ...(target === null ? {} : { target }),
      // Administrators have no key. They try accounts before these are used.
      ...(caller.owner === "" ? { disabledToo: true } : {}),
      ...(use === undefined ? {} : { use }),
    },
    abort.signal,
  );
  log.queueMs = (log.queueMs ?? 0) + platform.now() - started;
  if (acquired.limits !== undefined) quota.left = acquired.limits;
  if ("lease" in acquired) return acquired;
  if (abort.signal.aborted) throw abort.signal.reason;
  const { failure, limit } = acquired;
  if (limit !== undefined) throw limitExceeded(limit, platform.now());
  const refused = failure === undefined ? refusal(acquired.refused, target) : errorOf(failure);
  if (failover.tried.length === 0) throw refused;
  throw failover.verdict(acquired.refused === "no_accounts" ? null : refused);
}

function tokenFor(request: AccountRequest, lease: Lease, fetch: Fetch, stale?: string): Promise<string> {
  const { abort, context, provider = ownProvider(context.platform) } = request;
  const signIn = async (credentials: Credentials) => {
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort(new ProviderError("timeout", "the provider did not answer the sign-in in time"));
    }, provider.patience.firstByteTimeoutMs);
    try {
      const signal = AbortSignal.any([abort.signal, late.signal]);
      return await provider.api.signIn(credentials, fetch, signal);
    } finally {
      clearTimeout(timer);
    }
  };
  return accountToken(lease, signIn, stale, abort.signal, (meant) => confirmMeant(request, meant));
}

/** What `work` comes to; no later than when `signal` is aborted, and with its reason then. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Tells the pool how an attempt ended. Returns whether another account is well, if this one is not. */
async function tell(lease: Lease, error: unknown): Promise<boolean> {
  if (faultOf(error) !== null) return lease.failed(failureOf(error)).catch(() => false);
  // A refusal of the request is an answer.
  if (error instanceof ProviderError) await lease.succeeded().catch(() => undefined);
  return false;
}

/** No account could be had: another provider may have one. */
export class NoSlot extends GatewayError {
  /** Whether waiting might have helped. */
  readonly busy: boolean;

  constructor(message: string, busy: boolean) {
    super(429, message, { code: "concurrency_limit_exceeded" });
    this.busy = busy;
  }
}

/** What the caller is told when the pool grants no slot, unless the provider is down: always 429, never with `Retry-After` (contract, Errors). */
export function refusal(reason: RefusalReason, target: string | null): GatewayError {
  switch (reason) {
    case "target_not_found":
      return new GatewayError(
        429,
        `the target account ${JSON.stringify(target)} does not exist or is disabled`,
        {
          code: "target_account_not_found",
        },
      );
    case "no_accounts":
      return new NoSlot("no provider account is available", false);
    case "queue_full":
      return new NoSlot("all accounts are busy and the waiting queue is full", true);
    case "queue_timeout":
      return new NoSlot("no account became free in time", true);
    case "provider_down":
      return new GatewayError(503, "the provider is down", { code: "upstream_unavailable" });
    case "cancelled":
      return clientLeft();
    case "limited":
      return new GatewayError(429, "the key has used what it may", { code: "rate_limit_exceeded" });
  }
}

/** What a request ends with whose client went away: 499. */
export function clientLeft(): GatewayError {
  return new GatewayError(499, "the client went away", { code: "request_cancelled" });
}

/** What ends a request's work: also the client's going away, until `stop`, and when it has gone already. */
export function abortWith({ signal }: Request): { abort: AbortController; stop: () => void } {
  const abort = new AbortController();
  const left = () => abort.abort(clientLeft());
  if (signal.aborted) left();
  signal.addEventListener("abort", left, { once: true });
  return { abort, stop: () => signal.removeEventListener("abort", left) };
}
