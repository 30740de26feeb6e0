import { ANY_PROVIDER } from "../../core/ports/accounts.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { runInParallel } from "../../core/run-in-parallel.ts";
import { withBackgroundAccount } from "./background-account.ts";

const CONCURRENCY = 5;
/** Most accounts in one round. Others wait for the next round, or sign in with their next request. */
const MAX_ACCOUNTS = 200;
const TIMEOUT_MS = 20_000;

/**
 * Signs in all idle accounts whose token is older than the refresh interval, so that no request has to wait for a sign-in.
 * It skips busy accounts: their next request signs in. Call it every few minutes. It never throws for an error of an
 * account or the provider: the pool records those.
 *
 * @returns how many accounts have a new token
 */
export async function refreshTokens(platform: Platform): Promise<number> {
  const due = (await platform.accounts.listTokensDueForRefresh()).slice(0, MAX_ACCOUNTS);
  let refreshed = 0;
  await runInParallel(due, CONCURRENCY, async (target) => {
    const acquireOptions = { target, provider: ANY_PROVIDER, waitMs: 0 };
    try {
      await withBackgroundAccount(
        platform,
        { purpose: "refresh", acquireOptions, timeoutMs: TIMEOUT_MS },
        async () => {
          refreshed += 1;
        },
      );
    } catch {
      // The pool has recorded the failure. The old token remains in use.
    }
  });
  return refreshed;
}
