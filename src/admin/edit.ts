import { withHashedKeys } from "../config/api-keys.ts";
import { type Account, type Config, configSchema } from "../config/schema.ts";
import type { ConfigSnapshot } from "../config/snapshot.ts";
import { invalidRequest } from "../errors/gateway-error.ts";
import { parseWith } from "../http/json-body.ts";
import type { Context } from "../platform/context.ts";

/**
 * Changes the configuration. `change` may run more than once when others edit at the same time; what it throws is
 * thrown here, and nothing is stored.
 *
 * @throws GatewayError 400 that names the field for an outcome that is not valid, 409 when the configuration is read-only.
 */
export function edit(
  context: Context,
  change: (config: Config) => Config | Promise<Config>,
): Promise<ConfigSnapshot> {
  const stored = context.platform.configuration.update(async (config) => {
    const changed = parseWith(configSchema, await change(config));
    refuseDangling(config, changed);
    refuseUnusable(config, changed);
    return changed.callers.keys_hashed ? withHashedKeys(changed) : changed;
  });
  // Edits stand in one queue: one whose client leaves must come to its end all the same.
  context.waitUntil(stored.catch(() => undefined));
  return stored;
}

/** An account bound to a proxy that is not there would go without one, unnoticed: such a binding is never stored. */
function refuseDangling(before: Config, after: Config): void {
  const allowed = new Set(["", ...after.proxies.map(({ id }) => id)]);
  const index = after.accounts.findIndex(({ proxy_id }) => !allowed.has(proxy_id));
  const dangling = after.accounts[index]?.proxy_id;
  if (dangling === undefined) return;
  const known = new Set(before.proxies.map(({ id }) => id));
  if (!known.has(dangling) && before.accounts.some(({ proxy_id }) => proxy_id === dangling)) return;
  const param = `accounts[${index}].proxy_id`;
  throw invalidRequest(`${param}: the proxy ${JSON.stringify(dangling)} does not exist`, param);
}

/** Control characters, and halves of surrogate pairs. */
const UNUSABLE = /[\p{Cc}\p{Cs}]/u;

/** What travels in headers and paths, by the names of its fields. */
function travelling({ keys, api_keys, accounts }: Config): [field: string, text: string][] {
  return [
    ...keys.map((key, index): [string, string] => [`keys[${index}]`, key]),
    ...api_keys.map(({ key }, index): [string, string] => [`api_keys[${index}].key`, key]),
    ...accounts.flatMap((account, index) =>
      (["email", "mobile", "token"] as const).map((field): [string, string] => [
        `accounts[${index}].${field}`,
        account[field],
      ]),
    ),
  ];
}

/** A key, name or token that neither a header nor a path can carry could not be used, nor be deleted: it is never added. */
function refuseUnusable(before: Config, after: Config): void {
  const bad = travelling(after).filter(([, text]) => UNUSABLE.test(text));
  if (bad.length === 0) return;
  const known = new Set(travelling(before).map(([, text]) => text));
  const param = bad.find(([, text]) => !known.has(text))?.[0];
  if (param === undefined) return;
  throw invalidRequest(`${param}: control characters and broken surrogate pairs are not allowed`, param);
}

/** Which accounts of two lists are the same one, in ways that the identifier does not show. */
export function sameAccount(one: Account, other: Account): boolean {
  if (one.email !== "" && one.email.toLowerCase() === other.email.toLowerCase()) return true;
  if (one.mobile !== "" && one.mobile === other.mobile) return true;
  const named = (account: Account) => account.email !== "" || account.mobile !== "";
  return !named(one) && !named(other) && one.token === other.token;
}
