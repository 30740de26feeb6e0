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

/** What the program itself wants an account for. */
export interface FreeAccountRequest {
  /** What the list of leases shows in place of an API style; request ids begin with it. */
  readonly what: string;
  readonly wanted: Pick<AcquireRequest, "target" | "provider" | "waitMs">;
  /** How long a sign-in, and the work, may each take, milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Does work that nobody's request is behind, in a slot of an account, which is signed in if it has no token. The pool learns how a
 * sign-in went, and nothing of the work.
 *
 * @throws GatewayError when no slot is granted; whatever the sign-in and the work throw; a `DOMException` `TimeoutError`
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
    // Credentials are for the provider as it is now. The next round knows that one.
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
