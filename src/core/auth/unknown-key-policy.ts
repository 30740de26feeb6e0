import type { Config } from "../config/schema.ts";
import type { Platform } from "../ports/platform.ts";

/** The facts about the default provider, the only one that unknown keys can reach. */
type Deployment = Pick<Platform, "variables" | "providerBaseUrl" | "providerSignsIn">;

function isRealCredential(token: string): boolean {
  return token !== "" && token.toLowerCase() !== "none";
}

/**
 * Whether the default provider certainly checks its keys: its accounts sign in, or the gateway has a real credential for it,
 * or it is a hosted API (https) without accounts, whose callers bring their own keys.
 */
function providerChecksKeys(
  { variables, providerBaseUrl, providerSignsIn }: Deployment,
  { accounts }: Config,
): boolean {
  if (providerSignsIn) return true;
  if (isRealCredential(variables.providerToken)) return true;
  const defaultAccounts = accounts.filter(({ provider = "" }) => provider === "");
  if (defaultAccounts.length === 0) return providerBaseUrl?.startsWith("https:") === true;
  return defaultAccounts.some(({ token }) => isRealCredential(token));
}

/** The effective policy for credentials that are no configured keys (docs/contract/keys.md, Authentication, rule 2). */
export function effectiveUnknownKeyPolicy(deployment: Deployment, config: Config): "pass_through" | "refuse" {
  return config.callers.unknown_keys ?? (providerChecksKeys(deployment, config) ? "pass_through" : "refuse");
}

/** Whether any key is served: the setting passes unknown keys to a provider that checks none. */
export function isOpenToAnyKey(deployment: Deployment, config: Config): boolean {
  return config.callers.unknown_keys === "pass_through" && !providerChecksKeys(deployment, config);
}

const lastChecked = new WeakMap<Platform, Config>();
const warned = new WeakSet<Platform>();

/** Logs one warning per isolate or process if the gateway accepts any key. */
export function warnIfOpenToAnyKey(platform: Platform, config: Config): void {
  if (warned.has(platform) || lastChecked.get(platform) === config) return;
  lastChecked.set(platform, config);
  if (!isOpenToAnyKey(platform, config)) return;
  warned.add(platform);
  console.warn(
    "Warning: the gateway serves any API key. callers.unknown_keys is pass_through, and the gateway has no credential " +
      "for the provider, which probably checks none. Set callers.unknown_keys to auto or refuse.",
  );
}
