import { ANY_PROVIDER, type Credentials, type MeantFor } from "../platform/accounts.ts";
import type { Platform } from "../platform/platform.ts";
import { providerNamed, sameParty } from "../provider/of-platform.ts";
import { renewLease } from "./lease-renewal.ts";
import { accountToken } from "./sign-in.ts";
import { proxyOf } from "./with-account.ts";

const CONCURRENCY = 5;
/** Accounts of one round: the rest is due in the next one, or signs in with its next request. */
const MAX_ACCOUNTS = 200;
const TIMEOUT_MS = 20_000;

/**
 * Signs in anew the accounts whose token is older than the refresh interval, so that no request has to wait for that.
 * Busy accounts are left out: their next request does it. To be called every few minutes; never throws for what an
 * account or the provider does wrong, as the pool learns of it.
 *
 * @returns how many accounts have a new token
 */
export async function refreshTokens(platform: Platform): Promise<number> {
  const due = (await platform.accounts.tokensDueForRefresh()).slice(0, MAX_ACCOUNTS).values();
  const { config } = await platform.configuration.read();
  let refreshed = 0;
  const worker = async () => {
    for (const target of due) {
      const acquired = await platform.accounts.acquire({
        requestId: `refresh_${crypto.randomUUID()}`,
        model: "",
        dialect: "refresh",
        target,
        provider: ANY_PROVIDER,
        waitMs: 0,
      });
      if ("refused" in acquired) continue;
      const { lease } = acquired;
      const abort = new AbortController();
      const stop = renewLease(lease, abort);
      try {
        const provider = providerNamed(platform, config, lease.account.provider);
        const fetch = platform.upstream(proxyOf(config, lease.account.proxyId || provider.proxyId));
        const signIn = (credentials: Credentials) => {
          const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(TIMEOUT_MS)]);
          return provider.api.signIn(credentials, fetch, signal);
        };
        // Credentials are for the provider as it is now. The next round knows that one.
        const confirm = async ({ provider: owner, configVersion = 0 }: MeantFor) => {
          const { config: newest } = await platform.configuration.atLeast(configVersion);
          const now = providerNamed(platform, newest, owner);
          if (!sameParty(now, provider)) throw new Error("the provider has been changed");
        };
        await accountToken(lease, signIn, undefined, undefined, confirm);
        refreshed += 1;
      } catch {
        // The pool knows, and the old token serves on.
      } finally {
        stop();
        lease.release();
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return refreshed;
}
