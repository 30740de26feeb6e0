import { ANY_PROVIDER } from "../platform/accounts.ts";
import type { Platform } from "../platform/platform.ts";
import { withFreeAccount } from "./free-account.ts";

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
  let refreshed = 0;
  const worker = async () => {
    for (const target of due) {
      const wanted = { target, provider: ANY_PROVIDER, waitMs: 0 };
      try {
        await withFreeAccount(platform, { what: "refresh", wanted, timeoutMs: TIMEOUT_MS }, async () => {
          refreshed += 1;
        });
      } catch {
        // The pool knows, and the old token serves on.
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return refreshed;
}
