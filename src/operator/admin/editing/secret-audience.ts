import { AUTH_SECRETS } from "../../../core/config/account-auth-rules.ts";
import { PLACEHOLDER_TOKEN } from "../../../core/config/provider-id.ts";
import type { Config } from "../../../core/config/schema.ts";
import type { Account } from "../../../core/config/schemas/account-schema.ts";
import type { ProviderEntry } from "../../../core/config/schemas/provider-schema.ts";
import { GatewayError } from "../../../core/errors/gateway-error.ts";
import { getCurrentDriverName } from "../../../gateway/providers/drivers.ts";

/** The secrets of an account. */
function listSecrets({ password, token, auth = { type: "api_key" } }: Account): string[] {
  const secrets = [password, token, ...AUTH_SECRETS.map((field) => auth[field] ?? "")];
  return secrets.filter((secret) => secret !== "" && secret !== PLACEHOLDER_TOKEN);
}

/** The proxy, if one of the addresses has no encryption: then it can read the requests. */
function listReaders({ proxies }: Config, proxyId: string, addresses: readonly string[]): unknown[] {
  const through = proxies.find(({ id }) => id === proxyId);
  const isRead = through !== undefined && addresses.some((address) => address.startsWith("http:"));
  return isRead ? [through.host, through.port] : [];
}

/** The receivers of a provider's requests: its address, and the proxy if it can read them. */
function describeReceiver(
  config: Config,
  { driver, base_url, proxy_id }: ProviderEntry,
  { proxy_id: accountProxy, auth }: Pick<Account, "proxy_id" | "auth"> = { proxy_id: "" },
): string {
  const readers = listReaders(config, accountProxy || proxy_id, [base_url, auth?.token_url ?? ""]);
  return JSON.stringify([getCurrentDriverName(driver), base_url, ...readers]);
}

/** The receivers of an account's secrets. By address, not by the provider's id, which another provider can get. */
function findReceiver(config: Config, account: Account, defaultAddress: string): string {
  const { provider = "", proxy_id, auth } = account;
  const entry = config.providers.find(({ id }) => id === provider);
  if (entry !== undefined) return describeReceiver(config, entry, account);
  const addresses = provider === "" ? [defaultAddress, auth?.token_url ?? ""] : [];
  return JSON.stringify([`provider ${provider}`, ...listReaders(config, proxy_id, addresses)]);
}

/** An entry whose stored secret would go to another receiver, as errors name it; null: there is none. */
function findRedirectedSecret(before: Config, after: Config, defaultAddress: string): string | null {
  for (const entry of after.providers) {
    const stored = before.providers.find(({ id }) => id === entry.id);
    if (stored === undefined) continue;
    const headers = new Set(Object.values(stored.headers));
    const hasStoredSecret =
      (entry.token !== "" && entry.token === stored.token) ||
      Object.values(entry.headers).some((value) => value !== "" && headers.has(value));
    if (hasStoredSecret && describeReceiver(before, stored) !== describeReceiver(after, entry))
      return `the provider ${JSON.stringify(entry.id)}`;
  }
  for (const proxy of after.proxies) {
    const stored = before.proxies.find(({ id }) => id === proxy.id);
    const isMoved = stored !== undefined && (stored.host !== proxy.host || stored.port !== proxy.port);
    if (isMoved && proxy.password !== "" && proxy.password === stored.password)
      return `the proxy ${JSON.stringify(proxy.id)}`;
  }
  const receivers = new Map<string, Set<string>>();
  for (const account of before.accounts) {
    const receiver = findReceiver(before, account, defaultAddress);
    for (const secret of listSecrets(account)) {
      const known = receivers.get(secret) ?? new Set();
      receivers.set(secret, known.add(receiver));
    }
  }
  // Not compared by name: an edit can give an account another name and keep its secret.
  const moved = after.accounts.find((account) => {
    const receiver = findReceiver(after, account, defaultAddress);
    return listSecrets(account).some((secret) => receivers.get(secret)?.has(receiver) === false);
  });
  if (moved !== undefined) return `the account ${JSON.stringify(moved.email || moved.mobile || moved.name)}`;
  return null;
}

/**
 * Rejects an edit that sends a stored secret to another receiver, because its author could read the secret there.
 * Owners can read secrets anyway.
 *
 * @param defaultAddress where requests of the provider of the deployment's variables go; empty: nothing outside gets them
 * @throws GatewayError 403 that names the entry
 */
export function assertSecretsStay(before: Config, after: Config, defaultAddress: string): void {
  const entry = findRedirectedSecret(before, after, defaultAddress);
  if (entry === null) return;
  throw new GatewayError(
    403,
    `${entry} has a stored secret, which this change would send to another address: state the secret again, or ask an owner`,
    { code: "permission_denied" },
  );
}
