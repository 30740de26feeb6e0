import type { Account, Config } from "../../core/config/schema.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import { isSameDriver } from "../../gateway/providers/drivers.ts";

/** The secrets of an account, as texts. */
function listSecrets({ password, token, auth }: Account): string[] {
  return [password, token, auth === undefined ? "" : JSON.stringify(auth)].filter((secret) => secret !== "");
}

/** An entry whose stored secret would go to another receiver, as errors name it; null: there is none. */
function findRedirectedSecret(before: Config, after: Config): string | null {
  for (const entry of after.providers) {
    const stored = before.providers.find(({ id }) => id === entry.id);
    if (stored === undefined) continue;
    const isMoved = stored.base_url !== entry.base_url || !isSameDriver(stored.driver, entry.driver);
    const headers = new Set(Object.values(stored.headers));
    const hasStoredSecret =
      (entry.token !== "" && entry.token === stored.token) ||
      Object.values(entry.headers).some((value) => value !== "" && headers.has(value));
    if (isMoved && hasStoredSecret) return `the provider ${JSON.stringify(entry.id)}`;
  }
  for (const proxy of after.proxies) {
    const stored = before.proxies.find(({ id }) => id === proxy.id);
    const isMoved = stored !== undefined && (stored.host !== proxy.host || stored.port !== proxy.port);
    if (isMoved && proxy.password !== "" && proxy.password === stored.password)
      return `the proxy ${JSON.stringify(proxy.id)}`;
  }
  const receivers = new Map<string, Set<string>>();
  for (const account of before.accounts) {
    for (const secret of listSecrets(account)) {
      const providers = receivers.get(secret) ?? new Set();
      receivers.set(secret, providers.add(account.provider ?? ""));
    }
  }
  // Not compared by name: an edit can give an account another name and keep its secret.
  const moved = after.accounts.find((account) =>
    listSecrets(account).some((secret) => receivers.get(secret)?.has(account.provider ?? "") === false),
  );
  if (moved !== undefined) return `the account ${JSON.stringify(moved.email || moved.mobile || moved.name)}`;
  return null;
}

/**
 * Rejects an edit that sends a stored secret to another receiver, because whoever makes it could read the secret there.
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
