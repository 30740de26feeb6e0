import { upstreamOf } from "../captures/tap.ts";
import { LightAbortController } from "../http/light-abort-controller.ts";
import { RequestTimers } from "../http/request-timers.ts";
import type { AcquireRequest, Credentials, MeantFor } from "../platform/accounts.ts";
import type { Platform } from "../platform/platform.ts";
import { providerNamed, sameParty } from "../provider/of-platform.ts";
import type { UpstreamAccount } from "../provider/provider.ts";
import { errorOf } from "./fault.ts";
import { renewLease } from "./lease-renewal.ts";
import { refusal } from "./refusal.ts";
import { accountToken } from "./sign-in.ts";
import { proxyOf } from "./with-account.ts";

/** A background task of the program that needs an account. */
export interface FreeAccountRequest {
  /** Shown in the list of leases in place of an API style. Also the prefix of the request id. */
  readonly what: string;
  readonly wanted: Pick<AcquireRequest, "target" | "provider" | "waitMs">;
  /** Time limit for the sign-in, and separately for the work, milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Runs background work, which no caller's request caused, in a slot of an account. Signs the account in if it has no token.
 * The pool learns the result of the sign-in, but not of the work.
 *
 * @throws GatewayError when the pool grants no slot; any error of the sign-in or the work; a `DOMException` `TimeoutError`
 */
export async function withFreeAccount<T>(
  platform: Platform,
  { what, wanted, timeoutMs }: FreeAccountRequest,
  work: (account: UpstreamAccount, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const requestId = `${what}_${crypto.randomUUID()}`;
  const acquired = await platform.accounts.acquire({ requestId, model: "", dialect: what, ...wanted });
  if ("refused" in acquired) {
    const { failure, refused } = acquired;
    throw failure === undefined ? refusal(refused, wanted.target ?? null) : errorOf(failure);
  }
  const { lease } = acquired;
  const abort = new LightAbortController();
  const timers = new RequestTimers();
  const stop = renewLease(lease, timers, abort);
  const inTime = () => AbortSignal.any([abort.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const { config } = await platform.configuration.read();
    const provider = providerNamed(platform, config, lease.account.provider);
    const proxy = proxyOf(config, lease.account.proxyId || provider.proxyId);
    const behind: Promise<unknown>[] = [];
    const context = {
      platform,
      requestId,
      log: {},
      config: () => platform.configuration.read(),
      waitUntil: (more: Promise<unknown>) => behind.push(more),
    };
    const fetch = upstreamOf(context, proxy, provider);
    const signIn = (credentials: Credentials) => provider.api.signIn(credentials, fetch, inTime());
    // The credentials belong to the provider as it is configured now. If that has changed, the next round uses the new
    // configuration.
    const confirm = async ({ provider: owner, configVersion = 0 }: MeantFor) => {
      const { config: newest } = await platform.configuration.atLeast(configVersion);
      const now = providerNamed(platform, newest, owner);
      if (!sameParty(now, provider)) throw new Error("the provider has been changed");
    };
    const token = await accountToken(lease, signIn, undefined, undefined, confirm);
    const result = await work({ token, fetch }, inTime());
    await Promise.allSettled(behind);
    return result;
  } finally {
    stop();
    timers.end();
    lease.release();
  }
}
