import type { Config } from "../../core/config/schema.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import { isSameDriver } from "../../gateway/providers/drivers.ts";
import { isSameAccount } from "./account-identifiers.ts";

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
  for (const account of after.accounts) {
    const stored = before.accounts.find((other) => isSameAccount(other, account));
    if (stored === undefined || (stored.provider ?? "") === (account.provider ?? "")) continue;
    const isStored = (field: "password" | "token") =>
      account[field] !== "" && account[field] === stored[field];
    if (isStored("password") || isStored("token") || stored.auth !== undefined)
      return `the account ${JSON.stringify(account.email || account.mobile || account.name)}`;
  }
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
