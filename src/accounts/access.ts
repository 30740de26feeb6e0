import type { Caller } from "../auth/callers.ts";
import { upstreamOf } from "../captures/tap.ts";
import type { Config } from "../config/schema.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import type { Lease, RefusalReason } from "../platform/accounts.ts";
import type { Context } from "../platform/context.ts";
import type { OutboundProxy } from "../platform/upstream.ts";
import type { UpstreamAccount } from "../provider/provider.ts";
import { accountToken } from "./sign-in.ts";

/** The right to speak to the provider on an account's behalf, until it is given back. */
export interface Access {
  /** Empty in pass-through mode. */
  readonly accountId: string;
  /** Null in pass-through mode. */
  readonly lease: Lease | null;
  readonly account: UpstreamAccount;
  /** The same access with a fresh token, after the provider refused the present one; null: there is none. */
  refreshed(signal: AbortSignal): Promise<Access | null>;
}

/** What the caller is told when the pool grants no slot: always 429, never with `Retry-After` (contract, Errors). */
function refusal(reason: RefusalReason, target: string | null): GatewayError {
  switch (reason) {
    case "target_not_found":
      return new GatewayError(429, `the target account ${JSON.stringify(target)} does not exist`, {
        code: "target_account_not_found",
      });
    case "no_accounts":
      return new GatewayError(429, "no provider account is available", {
        code: "concurrency_limit_exceeded",
      });
    case "queue_full":
      return new GatewayError(429, "all accounts are busy and the waiting queue is full", {
        code: "concurrency_limit_exceeded",
      });
    case "queue_timeout":
      return new GatewayError(429, "no account became free in time", { code: "concurrency_limit_exceeded" });
    case "cancelled":
      return new GatewayError(499, "the client went away", { code: "request_cancelled" });
  }
}

/** The proxy that an account is bound to; null when it is bound to none, or to one that no longer exists. */
export function proxyOf(config: Config, proxyId: string): OutboundProxy | null {
  return proxyId === "" ? null : (config.proxies.find((proxy) => proxy.id === proxyId) ?? null);
}

function managedAccess(context: Context, config: Config, lease: Lease, token: string): Access {
  const fetch = upstreamOf(context, proxyOf(config, lease.account.proxyId));
  const access: Access = {
    accountId: lease.account.id,
    lease,
    account: { token, fetch },
    refreshed: async (signal) =>
      managedAccess(
        context,
        config,
        lease,
        await accountToken(lease, signIn(context, access.account.fetch, signal), token, signal),
      ),
  };
  return access;
}

function signIn(context: Context, fetch: UpstreamAccount["fetch"], signal: AbortSignal) {
  return (credentials: { email?: string; mobile?: string; password: string }) =>
    context.provider().signIn({ email: "", mobile: "", token: "", ...credentials }, fetch, signal);
}

/**
 * Gets the right to speak upstream: a leased account for a configured key, the caller's own token otherwise. The lease
 * is the caller's to release.
 *
 * @throws GatewayError 429 when no slot is granted, 401 when the account cannot sign in.
 */
export async function openAccess(
  context: Context,
  caller: Caller,
  options: { model: string; dialect: string; exclude: readonly string[]; signal: AbortSignal },
): Promise<Access> {
  const { platform } = context;
  if (caller.mode === "pass-through") {
    const account = { token: caller.credential, fetch: upstreamOf(context, null) };
    return { accountId: "", lease: null, account, refreshed: async () => null };
  }
  const { config } = await context.config();
  const started = platform.now();
  const acquired = await platform.accounts.acquire(
    {
      requestId: context.requestId,
      model: options.model,
      dialect: options.dialect,
      exclude: options.exclude,
      waitMs: platform.settings.queueTimeoutMs,
      ...(caller.targetAccount === null ? {} : { target: caller.targetAccount }),
    },
    options.signal,
  );
  context.log.queueMs = platform.now() - started;
  if ("refused" in acquired) throw refusal(acquired.refused, caller.targetAccount);
  const { lease } = acquired;
  try {
    context.log.account = lease.account.id;
    const fetch = upstreamOf(context, proxyOf(config, lease.account.proxyId));
    const { signal } = options;
    const token = await accountToken(lease, signIn(context, fetch, signal), undefined, signal);
    return managedAccess(context, config, lease, token);
  } catch (error) {
    lease.release();
    throw error;
  }
}
