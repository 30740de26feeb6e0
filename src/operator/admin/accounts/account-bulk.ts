import * as z from "zod";
import type { Config } from "../../../core/config/schema.ts";
import type { Account } from "../../../core/config/schemas/account-schema.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { accountIdentifiers } from "../account-identifiers.ts";
import { editConfig } from "../editing/config-edit.ts";
import { requestObject } from "../request-fields.ts";
import { accountsChangedResponse, accountsChangedSchema, assertProxyExists } from "./account-edit.ts";

const MAX_ACCOUNTS = 100_000;

/** Body of `POST /admin/accounts/bulk`. `bind` needs `proxy_id`; an empty `proxy_id` unbinds the accounts. */
const bulkSchema = requestObject(() => ({
  action: z.enum(["enable", "disable", "delete", "bind"]),
  identifiers: z.array(z.string()).min(1, "name the accounts").max(MAX_ACCOUNTS),
  proxy_id: z.string().trim().optional(),
})).refine(({ action, proxy_id }) => action !== "bind" || proxy_id !== undefined, {
  error: "the id of a proxy is needed; an empty one unbinds",
  path: ["proxy_id"],
});

type Bulk = z.output<typeof bulkSchema>;

/** Returns the account after the bulk action; null if the action deletes it. */
function applyAction(account: Account, { action, proxy_id = "" }: Bulk): Account | null {
  if (action === "delete") return null;
  if (action === "bind") return { ...account, proxy_id };
  return { ...account, disabled: action === "disable" };
}

/** Returns the changed configuration, the number of changed accounts, and the named accounts that do not exist. */
async function applyBulkAction(config: Config, bulk: Bulk) {
  if (bulk.action === "bind") assertProxyExists(config, bulk.proxy_id ?? "");
  const requestedIds = new Set(bulk.identifiers);
  const missing = new Set(requestedIds);
  const ids = await accountIdentifiers(config);
  let changed = 0;
  const accounts = config.accounts.flatMap((account, index) => {
    const id = ids[index] ?? "";
    if (!requestedIds.has(id)) return [account];
    missing.delete(id);
    changed += 1;
    return applyAction(account, bulk) ?? [];
  });
  return { config: { ...config, accounts }, changed, missing: [...missing] };
}

export const ACCOUNT_BULK_ENDPOINTS = [
  /**
   * `POST /admin/accounts/bulk`: applies one action to many accounts in a single edit and saves the previous configuration.
   */
  adminEndpoint({
    method: "POST",
    path: "/admin/accounts/bulk",
    summary: "Enable, disable, delete or bind many accounts",
    body: bulkSchema,
    answers: jsonResponse(() =>
      accountsChangedSchema().extend({ changed: z.int(), missing: z.array(z.string()) }),
    ),
    handler: async (context, { body }) => {
      let changed = 0;
      let missing: readonly string[] = [];
      const apply = async (current: Config) => {
        const result = await applyBulkAction(current, body);
        ({ changed, missing } = result);
        return result.config;
      };
      return accountsChangedResponse(await editConfig(context, apply, { keep: true }), { changed, missing });
    },
  }),
] satisfies readonly Endpoint[];
