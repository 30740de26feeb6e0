import { accountIdentifier } from "../config/account-identifier.ts";
import type { Config } from "../config/schema.ts";
import type { PoolAccount, PoolConfiguration } from "../platform/accounts.ts";

const HOUR_MS = 3_600_000;

/** What the pool needs of the configuration. `queueWaitMs` is a setting of the deployment. */
export async function poolConfiguration(
  config: Pick<Config, "accounts" | "proxies" | "runtime">,
  queueWaitMs: number,
): Promise<PoolConfiguration> {
  const accounts: PoolAccount[] = [];
  for (const account of config.accounts) {
    const { email, mobile, password, token, disabled, weight } = account;
    const id = await accountIdentifier(account);
    accounts.push({ id, email, mobile, password, token, proxyId: account.proxy_id, disabled, weight });
  }
  const { runtime } = config;
  return {
    accounts,
    proxies: config.proxies.map(({ id, name: _, ...settings }) => ({
      id,
      settings: JSON.stringify(settings),
    })),
    limits: {
      perAccount: runtime.account_max_inflight,
      global: runtime.global_max_inflight,
      queue: runtime.account_max_queue,
      queueWaitMs,
      tokenRefreshMs: runtime.token_refresh_interval_hours * HOUR_MS,
    },
  };
}
