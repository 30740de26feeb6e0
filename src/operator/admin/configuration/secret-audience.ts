import { AUTH_SECRETS } from "../../../core/config/account-auth-rules.ts";
import type { Account } from "../../../core/config/account-schema.ts";
import type { ProviderEntry } from "../../../core/config/provider-schema.ts";
import type { Config } from "../../../core/config/schema.ts";
import { GatewayError } from "../../../core/errors/gateway-error.ts";
import { getCurrentDriverName } from "../../../gateway/providers/drivers.ts";

/** The secrets of an account. `none` stands for no token. */
function listSecrets({ password, token, auth = { type: "api_key" } }: Account): string[] {
  const secrets = [password, token, ...AUTH_SECRETS.map((field) => auth[field] ?? "")];
  return secrets.filter((secret) => secret !== "" && secret !== "none");
}

/** The address and the proxy of a provider that reads what is sent to it without encryption. */
function describeReceiver(
  { proxies }: Config,
  { driver, base_url, proxy_id }: ProviderEntry,
  accountProxy = "",
): string {
  const through = proxies.find(({ id }) => id === (accountProxy || proxy_id));
  const reader = base_url.startsWith("https:") || through === undefined ? [] : [through.host, through.port];
  return JSON.stringify([getCurrentDriverName(driver), base_url, ...reader]);
}

/** What the secrets of an account are sent to: an address, and not the id, which another provider can get. */
function findReceiver(config: Config, { provider = "", proxy_id }: Account): string {
  const entry = config.providers.find(({ id }) => id === provider);
  return entry === undefined ? `provider ${provider}` : describeReceiver(config, entry, proxy_id);
}

/** An entry whose stored secret would go to another receiver, as errors name it; null: there is none. */
function findRedirectedSecret(before: Config, after: Config): string | null {
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
    const receiver = findReceiver(before, account);
    for (const secret of listSecrets(account)) {
      const known = receivers.get(secret) ?? new Set();
      receivers.set(secret, known.add(receiver));
    }
  }
  // Not compared by name: an edit can give an account another name and keep its secret.
  const moved = after.accounts.find((account) => {
    const receiver = findReceiver(after, account);
    return listSecrets(account).some((secret) => receivers.get(secret)?.has(receiver) === false);
  });
  if (moved !== undefined) return `the account ${JSON.stringify(moved.email || moved.mobile || moved.name)}`;
  return null;
}

/**
 * Rejects an edit that sends a stored secret to another receiver, because its author could read the secret there.
 * Owners can read secrets anyway.
 *
 * @throws GatewayError 403 that names the entry
 */
export function assertSecretsStay(before: Config, after: Config): void {
  const entry = findRedirectedSecret(before, after);
  if (entry === null) return;
  throw new GatewayError(
    403,
    `${entry} has a stored secret, which this change would send to another address: state the secret again, or ask an owner`,
    { code: "permission_denied" },
  );
}
