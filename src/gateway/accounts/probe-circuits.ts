import { accountIdentifier } from "../../core/config/account-identifier.ts";
import type { Config } from "../../core/config/schema.ts";
import type { CooldownView, QueueStatus } from "../../core/ports/account-status.ts";
import { type AcquireRequest, ANY_PROVIDER } from "../../core/ports/accounts.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { runInParallel } from "../../core/run-in-parallel.ts";
import { probesActively } from "../providers/drivers.ts";
import { withBackgroundAccount } from "./background-account.ts";

const CONCURRENCY = 5;
/** Most probes in one round. Others wait for the next round, or for a request that probes. */
const MAX_PROBES = 50;
const TIMEOUT_MS = 10_000;

type ProbeTarget = Pick<AcquireRequest, "target" | "provider">;

/**
 * Sends a cheap request to each account, proxy and provider with an open circuit, if the provider allows it
 * (`active_probes`). So they are used again as soon as they work, without the risk of a caller's request. Skips rate limits,
 * which end at a known time, and outages of one model, of which the cheap request says nothing. Call it every few
 * minutes. It never throws for an error of an account or a provider: the pool records those.
 *
 * @returns how many probes succeeded
 */
export async function probeCircuits(platform: Platform): Promise<number> {
  const [status, { config }] = await Promise.all([
    platform.accounts.getStatus(),
    platform.configuration.read(),
  ]);
  const targets = (await listTargets(platform, status, config)).slice(0, MAX_PROBES);
  let succeeded = 0;
  await runInParallel(targets, CONCURRENCY, async (target) => {
    const works = await probe(platform, target);
    if (works) succeeded += 1;
  });
  return succeeded;
}

/** A provider that is down for all models is probed once, with any account; an account that cools down, by itself. */
async function listTargets(
  { variables }: Platform,
  { outages, cooldowns }: QueueStatus,
  { providers, accounts }: Config,
): Promise<ProbeTarget[]> {
  if (outages.length === 0 && cooldowns.length === 0) return [];
  const probed = new Set([
    ...(probesActively(variables.providerDriver) ? [""] : []),
    ...providers
      .filter((entry) => entry.enabled && probesActively(entry.driver, entry.active_probes))
      .map(({ id }) => id),
  ]);
  const probedAccounts = new Set(
    await Promise.all(
      accounts.filter(({ provider = "" }) => probed.has(provider)).map((one) => accountIdentifier(one)),
    ),
  );
  const mayWork = cooldowns.filter(
    ({ account, kind }) => kind !== "rate_limited" && probedAccounts.has(account),
  );
  return [
    ...outages
      .filter(({ model, provider }) => model === "" && probed.has(provider))
      .map(({ provider }) => ({ provider })),
    ...withEachProxyOnce(mayWork).map(({ account }) => ({ target: account, provider: ANY_PROVIDER })),
  ];
}

/** All accounts of a proxy cool down together, and one of them shows whether the proxy works. */
function withEachProxyOnce(cooldowns: readonly CooldownView[]): CooldownView[] {
  const proxies = new Set<string>();
  return cooldowns.filter(({ proxy }) => {
    if (proxy === "") return true;
    const isFirst = !proxies.has(proxy);
    proxies.add(proxy);
    return isFirst;
  });
}

/** Whether the provider answered. */
async function probe(platform: Platform, target: ProbeTarget): Promise<boolean> {
  const acquireOptions = { ...target, waitMs: 0 };
  try {
    await withBackgroundAccount(
      platform,
      { purpose: "probe", acquireOptions, timeoutMs: TIMEOUT_MS, reportsOutcome: true },
      (account, signal, { api }) => api.checkAccount(account, signal),
    );
    return true;
  } catch {
    return false;
  }
}
