import { assertDialectAllowed } from "../../core/auth/access-rules.ts";
import type { HistoryMode } from "../../core/config/history-mode.ts";
import { toProviderId } from "../../core/config/provider-id.ts";
import type { ConfigSnapshot } from "../../core/config/snapshot.ts";
import { ProviderError, providerErrorToGateway } from "../../core/errors/provider-error.ts";
import type { AcquireGrant, Lease } from "../../core/ports/accounts.ts";
import type { ProviderFailure } from "../../core/ports/request-outcome.ts";
import { RetryBudget } from "../../core/retries/retry-budget.ts";
import { createLimitError } from "../../pool/limits/limit-error.ts";
import { getLimitedUse } from "../../pool/limits/limited-use.ts";
import { maskFailure } from "../captures/capture-masking.ts";
import { getDefaultProvider } from "../providers/provider-registry.ts";
import { createAccess } from "../upstream/access.ts";
import { findProxy } from "../upstream/find-proxy.ts";
import type { AccountRequest, AccountSession, BudgetedRequest } from "./account-request.ts";
import { createSelection, rememberAccount } from "./conversation-accounts.ts";
import { assertAudience } from "./credential-audience.ts";
import { Failover } from "./failover.ts";
import { attributeFault, toAccountFailure, toOutageError } from "./fault-attribution.ts";
import { ManagedSession } from "./managed-session.ts";
import { openOwnTokenSession, rethrowTokenRefusal } from "./own-token.ts";
import { createRefusalError } from "./slot-refusal.ts";

/**
 * Runs work with a provider account. Requests of callers and administrators use accounts only through this function. It
 * takes a slot (a pass-through caller's own token needs none), renews it during the work, refreshes an expired token once,
 * reports the result to the pool, tries other accounts as {@link Failover} decides, and always releases the slot. A request
 * that pins its account gets no other one.
 *
 * @returns the result of `operation`
 * @throws GatewayError 429, 499 or 503 when no slot is granted; any error of the work, including `ProviderError`. After
 *   several failures, the error that {@link Failover.chooseError} chooses.
 */
export async function withAccount<T>(
  unbudgetedRequest: AccountRequest,
  operation: (session: AccountSession) => Promise<T>,
): Promise<T> {
  const { caller, abort, context } = unbudgetedRequest;
  const { platform, facts } = context;
  const { retries = new RetryBudget(() => platform.now()) } = unbudgetedRequest;
  const request = { ...unbudgetedRequest, retries };
  context.trace?.watch(retries);
  retries.beginScope("model");
  if (caller.mode === "own-token") {
    facts.attempts = (facts.attempts ?? 0) + 1;
    try {
      const result = await operation(openOwnTokenSession(request));
      retries.endAttempt(null);
      return result;
    } catch (error) {
      retries.endAttempt(error);
      if (!abort.signal.aborted && attributeFault(error) === "provider")
        recordProviderFailure(request, "", error);
      return rethrowTokenRefusal(error);
    }
  }
  assertDialectAllowed(caller.key?.entry, request.dialect);
  const { config, version } = await context.config();
  const failover = new Failover({
    retries,
    isPinned: caller.targetAccount !== null,
    maxOtherAccounts: config.runtime.account_failovers,
    unreachedDeadline: platform.now() + platform.variables.queueTimeoutMs,
    // This covers one timeout before the first byte, but not two.
    otherAccountsDeadline: platform.now() + 1.5 * getFirstByteTimeoutMs(request),
  });
  for (;;) {
    const session = await openSession(request, { config, version }, failover);
    let hasStarted = false;
    try {
      await session.signIn();
      hasStarted = true;
      const result = await operation(session);
      retries.endAttempt(null);
      await session.lease.reportSuccess().catch(() => undefined);
      return result;
    } catch (thrown) {
      // The provider's error may contain the request's headers, so they are masked.
      const error = maskFailure(request.provider?.headers ?? {}, thrown);
      // The account did not cause the client's departure.
      if (abort.signal.aborted) {
        retries.endAttempt(abort.signal.reason);
        session.lease.reportFailure(UNATTRIBUTED_FAILURE).catch(() => undefined);
        throw error;
      }
      recordProviderFailure(request, session.accountId, error);
      const hasOtherHealthyAccount = await reportFailedAttempt(session.lease, error, facts.history);
      request.onAccountFailed?.(session.accountId, error);
      const attempt = {
        account: session.accountId,
        error,
        hasStarted,
        hasOtherHealthyAccount,
        canRetry: request.canRetry?.() === true,
        wantsAnotherAccount:
          attributeFault(error) === null && request.shouldTryAnotherAccount?.(error) === true,
      };
      const shouldRetry = failover.shouldRetry(attempt, platform.now());
      retries.endAttempt(error);
      if (!shouldRetry) throw failover.chooseError();
    } finally {
      session.end();
    }
  }
}

function getFirstByteTimeoutMs({ context: { platform }, provider }: AccountRequest): number {
  return (provider?.timeouts ?? platform.variables).firstByteTimeoutMs;
}

/** The result of an attempt that says nothing about the account. */
const UNATTRIBUTED_FAILURE = toAccountFailure(null);

/** The configuration that a request began with. */
type RequestSnapshot = Pick<ConfigSnapshot, "config" | "version">;

/** Takes a slot on an account that has not been tried yet. Throws the caller's error when none is available. */
async function openSession(
  request: BudgetedRequest,
  snapshot: RequestSnapshot,
  failover: Failover,
): Promise<ManagedSession> {
  const { context } = request;
  const provider = request.provider ?? getDefaultProvider(context.platform);
  const { lease, configVersion } = await acquireSlot(request, snapshot, failover);
  const session = new ManagedSession(request, lease);
  try {
    const { provider: owner } = lease.account;
    await assertAudience(request, {
      ...(owner === undefined ? {} : { provider: owner }),
      ...(configVersion === undefined ? {} : { configVersion }),
    });
    const { config: newest } = await context.config();
    const proxy = findProxy(newest, lease.account.proxyId || provider.proxyId);
    const reportQuota = (headers: Headers) => session.reportQuota(provider.id, headers);
    const access = createAccess(context, proxy, provider, reportQuota);
    const { trace } = context;
    const fetch =
      trace === undefined || !provider.traceContext
        ? access.fetch
        : trace.propagate(access.fetch, request.retries);
    session.setRoute({ ...access, fetch, proxy });
  } catch (error) {
    session.end();
    throw error;
  }
  context.facts.account = lease.account.id;
  request.retries.beginAttempt({
    provider: provider.id,
    account: lease.account.id,
    model: request.model,
  });
  context.facts.attempts = (context.facts.attempts ?? 0) + 1;
  return session;
}

async function acquireSlot(
  request: AccountRequest,
  { config, version }: RequestSnapshot,
  failover: Failover,
): Promise<AcquireGrant> {
  const { context, caller, model, dialect, abort } = request;
  const { platform, requestId, uniqueRequestId, facts, requestLimits } = context;
  const limitedProvider = toProviderId(request.provider?.id);
  const limitedUse = getLimitedUse(context, caller, config, request.estimateUsage, limitedProvider);
  // If the pool's answer gets lost, the pool may still have granted a slot.
  if (limitedUse !== undefined) {
    requestLimits.mustSettle = true;
    if (request.costsNothing === true) limitedUse.costsNothing = true;
  }
  const target = caller.targetAccount;
  const provider = request.provider ?? getDefaultProvider(platform);
  const selection =
    target === null ? await createSelection(platform, config, provider, request.turn) : undefined;
  const started = platform.now();
  const acquired = await platform.accounts.acquire(
    {
      requestId,
      ...(uniqueRequestId === requestId ? {} : { identity: uniqueRequestId }),
      model,
      dialect,
      ...(request.provider === undefined || request.provider.id === ""
        ? {}
        : { provider: request.provider.id }),
      caller: caller.owner,
      ...(caller.key === null ? {} : { key: caller.key.id }),
      exclude: failover.triedAccounts,
      waitMs: request.waitMs ?? platform.variables.queueTimeoutMs,
      ...(target === null ? {} : { target }),
      // Administrators have no key. They may use disabled accounts, in order to test them.
      ...(caller.owner === "" ? { disabledToo: true } : {}),
      ...(selection === undefined ? {} : { selection }),
      ...(limitedUse === undefined ? {} : { use: limitedUse }),
      configVersion: version,
    },
    abort.signal,
  );
  facts.queueMs = (facts.queueMs ?? 0) + platform.now() - started;
  if (acquired.limits !== undefined) requestLimits.remaining = acquired.limits;
  if ("lease" in acquired) {
    if (selection !== undefined && acquired.isBranch !== true)
      rememberAccount(platform, provider.id, selection, acquired.lease.account.id);
    return acquired;
  }
  abort.signal.throwIfAborted();
  const { failure, limit } = acquired;
  if (limit !== undefined) throw createLimitError(limit, platform.now());
  const refusalError =
    failure === undefined ? createRefusalError(acquired.refused, target) : toOutageError(failure);
  if (failover.triedAccounts.length === 0) throw refusalError;
  throw failover.chooseError(acquired.refused === "no_accounts" ? null : refusalError);
}

/** Most failed attempts that are noted of a request. */
const MAX_FAILED_ATTEMPTS = 40;

/**
 * Notes an attempt that failed by the fault of the provider or of the account:
 * usage and metrics count it for the provider.
 */
function recordProviderFailure(
  { context: { facts }, provider, model }: AccountRequest,
  account: string,
  error: unknown,
): void {
  const fault = attributeFault(error);
  if (!(error instanceof ProviderError) || fault === null || fault === "proxy") return;
  const failed: ProviderFailure = {
    attempt: facts.attempts ?? 0,
    provider: toProviderId(provider?.id),
    account,
    model,
    code: providerErrorToGateway(error).code,
  };
  facts.failedAttempts = [...(facts.failedAttempts ?? []), failed].slice(-MAX_FAILED_ATTEMPTS);
}

/** Reports to the pool how an attempt failed. Returns whether another account is healthy, if this one is not. */
async function reportFailedAttempt(
  lease: Lease,
  error: unknown,
  mode: HistoryMode | undefined,
): Promise<boolean> {
  if (attributeFault(error) !== null)
    return lease.reportFailure(toAccountFailure(error, mode)).catch(() => false);
  // An error that is only about the request still shows that the account works.
  if (error instanceof ProviderError) await lease.reportSuccess().catch(() => undefined);
  return false;
}
