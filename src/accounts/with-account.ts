import { failureWithout } from "../captures/mask.ts";
import { upstreamOf } from "../captures/tap.ts";
import type { Config } from "../config/schema.ts";
import { ProviderError } from "../errors/provider-error.ts";
import { checkDialect } from "../limits/allowed.ts";
import { limitedUse } from "../limits/quota.ts";
import { limitExceeded } from "../limits/refusal.ts";
import type { Granted, Lease } from "../platform/accounts.ts";
import type { OutboundProxy } from "../platform/upstream.ts";
import { ownProvider } from "../provider/of-platform.ts";
import type { AccountRequest, AccountSession } from "./account-request.ts";
import { Failover } from "./failover.ts";
import { errorOf, failureOf, faultOf } from "./fault.ts";
import { ManagedSession } from "./managed-session.ts";
import { passThrough, refusedAsToken } from "./pass-through.ts";
import { readmit } from "./readmission.ts";
import { refusal } from "./refusal.ts";

/**
 * Runs work with a provider account. Requests of callers and administrators use accounts only through this function. It
 * takes a slot (a pass-through caller's own token needs none), renews it during the work, refreshes an expired token once,
 * reports the result to the pool, tries other accounts as {@link Failover} decides, and always releases the slot. A request
 * that pins its account gets no other one.
 *
 * @returns the result of `work`
 * @throws GatewayError 429, 499 or 503 when no slot is granted; any error of the work, including `ProviderError`. After
 *   several failures, the error that {@link Failover.verdict} chooses.
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
    // This covers one timeout before the first byte, but not two.
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
      // The provider's error may contain the request's headers, so they are masked.
      const error = failureWithout(request.provider?.headers ?? {}, thrown);
      // The account did not cause the client's departure.
      if (abort.aborted) {
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

/** Finds a proxy by its id. Null for an empty id or a proxy that no longer exists. */
export function proxyOf(config: Config, proxyId: string): OutboundProxy | null {
  return proxyId === "" ? null : (config.proxies.find((proxy) => proxy.id === proxyId) ?? null);
}

function patienceOf({ context: { platform }, provider }: AccountRequest): number {
  return (provider?.patience ?? platform.variables).firstByteTimeoutMs;
}

/** The result of an attempt that says nothing about the account. */
const NOBODYS_FAULT = failureOf(null);

/** Takes a slot on an account that has not been tried yet. Throws the caller's error when none is available. */
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

async function acquire(request: AccountRequest, config: Config, failover: Failover): Promise<Granted> {
  const { context, caller, model, dialect, abort } = request;
  const { platform, requestId, identity, log, quota } = context;
  const use = limitedUse(context, caller, config, request.expected);
  // If the pool's answer gets lost, the pool may still have granted a slot.
  if (use !== undefined) quota.counts = true;
  const target = caller.targetAccount;
  const started = platform.now();
  const acquired = await platform.accounts.acquire(
    {
      requestId,
      ...(identity === requestId ? {} : { identity }),
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
      // Administrators have no key. They may use disabled accounts, in order to test them.
      ...(caller.owner === "" ? { disabledToo: true } : {}),
      ...(use === undefined ? {} : { use }),
    },
    abort,
  );
  log.queueMs = (log.queueMs ?? 0) + platform.now() - started;
  if (acquired.limits !== undefined) quota.left = acquired.limits;
  if ("lease" in acquired) return acquired;
  abort.throwIfAborted();
  const { failure, limit } = acquired;
  if (limit !== undefined) throw limitExceeded(limit, platform.now());
  const refused = failure === undefined ? refusal(acquired.refused, target) : errorOf(failure);
  if (failover.tried.length === 0) throw refused;
  throw failover.verdict(acquired.refused === "no_accounts" ? null : refused);
}

/** Reports to the pool how an attempt failed. Returns whether another account is healthy, if this one is not. */
async function tell(lease: Lease, error: unknown): Promise<boolean> {
  if (faultOf(error) !== null) return lease.failed(failureOf(error)).catch(() => false);
  // An error that is only about the request still shows that the account works.
  if (error instanceof ProviderError) await lease.succeeded().catch(() => undefined);
  return false;
}
