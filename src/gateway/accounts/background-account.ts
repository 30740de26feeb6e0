import type { AcquireRequest, CredentialAudience, Credentials } from "../../core/ports/accounts.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { getProvider, type RegisteredProvider } from "../providers/provider-registry.ts";
import type { UpstreamAccount } from "../providers/upstream-account.ts";
import { createUpstreamFetch } from "../upstream/fetch.ts";
import { findProxy } from "../upstream/find-proxy.ts";
import { createUpstreamAccount, signInAccount } from "./account-sign-in.ts";
import { assertSameEndpoint } from "./credential-audience.ts";
import { toAccountFailure, toProviderError } from "./fault-attribution.ts";
import { startLeaseRenewal } from "./lease-renewal.ts";
import { getAccountToken } from "./sign-in.ts";
import { createRefusalError } from "./slot-refusal.ts";

/** A background task of the program that needs an account. */
interface BackgroundAccountRequest {
  /** Shown in the list of leases in place of an API style. Also the prefix of the request id. */
  readonly purpose: string;
  readonly acquireOptions: Pick<AcquireRequest, "target" | "provider" | "waitMs">;
  /** Time limit for the sign-in, and separately for the work, milliseconds. */
  readonly timeoutMs: number;
  /** Whether the pool learns the result of the work, as that of a caller's request. Default: no. */
  readonly reportsOutcome?: boolean;
}

/**
 * Runs background work, which no caller's request caused, in a slot of an account. Signs the account in if it has no token.
 * The pool learns the result of the sign-in, and of the work only if asked to.
 *
 * @throws GatewayError when the pool grants no slot; any error of the sign-in or the work; a `DOMException` `TimeoutError`
 */
export async function withBackgroundAccount<T>(
  platform: Platform,
  { purpose, acquireOptions, timeoutMs, reportsOutcome = false }: BackgroundAccountRequest,
  operation: (account: UpstreamAccount, signal: AbortSignal, provider: RegisteredProvider) => Promise<T>,
): Promise<T> {
  const requestId = `${purpose}_${crypto.randomUUID()}`;
  const acquired = await platform.accounts.acquire({
    requestId,
    model: "",
    dialect: purpose,
    ...acquireOptions,
    ...(reportsOutcome ? {} : { releaseIsSuccess: false }),
  });
  if ("refused" in acquired) {
    const { failure, refused } = acquired;
    throw failure === undefined
      ? createRefusalError(refused, acquireOptions.target ?? null)
      : toProviderError(failure);
  }
  const { lease } = acquired;
  const abort = new AbortController();
  const stopRenewal = startLeaseRenewal(lease, abort);
  const createDeadlineSignal = () => AbortSignal.any([abort.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const { config } = await platform.configuration.read();
    const provider = getProvider(platform, config, lease.account.provider);
    const proxy = findProxy(config, lease.account.proxyId || provider.proxyId);
    const backgroundTasks: Promise<unknown>[] = [];
    const context = {
      platform,
      requestId,
      facts: {},
      config: () => platform.configuration.read(),
      waitUntil: (task: Promise<unknown>) => backgroundTasks.push(task),
    };
    const fetch = createUpstreamFetch(context, proxy, provider);
    const signIn = (credentials: Credentials) =>
      signInAccount({ platform, provider }, credentials, { fetch, proxy }, createDeadlineSignal());
    // The credentials belong to the provider as it is configured now. If that has changed, the next round uses the new
    // configuration.
    const confirm = async ({ provider: owner, configVersion = 0 }: CredentialAudience) => {
      const { config: newest } = await platform.configuration.atLeast(configVersion);
      assertSameEndpoint(platform, newest, owner, provider);
    };
    const token = await getAccountToken(lease, signIn, undefined, undefined, confirm);
    const account = createUpstreamAccount(token, lease.account.tokenType, { fetch });
    const result = await operation(account, createDeadlineSignal(), provider);
    if (reportsOutcome) await lease.reportSuccess();
    await Promise.allSettled(backgroundTasks);
    return result;
  } catch (error) {
    if (reportsOutcome) await lease.reportFailure(toAccountFailure(error)).catch(() => undefined);
    throw error;
  } finally {
    stopRenewal();
    lease.release();
  }
}
