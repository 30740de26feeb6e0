import * as z from "zod";
import type { Config } from "../../../core/config/schema.ts";
import { type Account, accountSchema } from "../../../core/config/schemas/account-schema.ts";
import type { ConfigSnapshot } from "../../../core/config/snapshot.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { findAccount, findAccountIndex } from "../account-identifiers.ts";
import { successSchema } from "../answers.ts";
import { editConfig } from "../editing/config-edit.ts";
import { ENTRY_HEADERS, entryEtag, formatEtag, IF_MATCH, VERSION_HEADERS } from "../etag.ts";
import { requestObject } from "../request-fields.ts";
import { authRequestSchema, withAuth } from "./account-auth.ts";
import { accountViewSchema, accountViews } from "./account-view.ts";

/**
 * Body of `PUT /admin/accounts/{identifier}`. Omitted fields keep their values, and so do an empty password and an empty
 * token. `email` and `mobile` are read-only. `PUT …/proxy` binds the proxy.
 */
const accountChangeSchema = requestObject(
  () => ({
    name: z.string().optional(),
    remark: z.string().optional(),
    password: z.string().optional(),
    token: z.string().trim().optional(),
    email: z.string().optional(),
    mobile: z.string().optional(),
    proxy_id: z.string().trim().optional(),
    disabled: z.boolean().optional(),
    weight: accountSchema.shape.weight.unwrap().optional(),
    provider: accountSchema.shape.provider,
    auth: authRequestSchema().optional(),
  }),
  accountViewSchema,
);

/** Body of `PUT /admin/accounts/{identifier}/proxy`. */
const proxyBindingSchema = requestObject(
  () => ({ proxy_id: z.string("the id of a proxy is needed; an empty one unbinds").trim() }),
  accountViewSchema,
);

/** Response of every edit of the accounts. */
export const accountsChangedSchema = () => successSchema().extend({ total_accounts: z.int() });

/** Builds the response to an edit of the accounts. Its entity tag is the version that the edit created. */
export function accountsChangedResponse(
  { config, version }: ConfigSnapshot,
  more: Readonly<Record<string, unknown>> = {},
): Response {
  const body = { success: true, total_accounts: config.accounts.length, ...more };
  return Response.json(body, { headers: { etag: formatEtag(version) } });
}

/** Throws 400 if no proxy has this id. An empty id means "no proxy" and is valid. */
export function assertProxyExists(config: Config, proxyId: string): void {
  if (proxyId !== "" && !config.proxies.some(({ id }) => id === proxyId)) {
    throw invalidRequest(`proxy_id: the proxy ${JSON.stringify(proxyId)} does not exist`, "proxy_id");
  }
}

/** Omits the field for the default provider. */
export function normalizedProvider(provider: string | undefined): Pick<Account, "provider"> {
  return provider ? { provider } : { provider: undefined };
}

/** Changes one account of the configuration. Throws 404 if no account has this identifier. */
async function editAccount(
  context: Context,
  identifier: string,
  change: (account: Account, config: Config) => Account,
): Promise<ConfigSnapshot> {
  const edit = async (current: Config) => {
    const edited = await findAccount(current, identifier);
    const accounts = current.accounts.map((account) =>
      account === edited ? change(account, current) : account,
    );
    return { ...current, accounts };
  };
  return editConfig(context, edit, { entry: (current) => findAccount(current, identifier) });
}

/** The header with the entity tag of an account. */
async function accountTag({ config }: ConfigSnapshot, identifier: string): Promise<{ etag: string }> {
  return { etag: await entryEtag(config, await findAccount(config, identifier)) };
}

/** Applies an administrator's changes to an account. Throws 400 for a change that is not allowed. */
function applyAccountChange(account: Account, body: z.output<typeof accountChangeSchema>): Account {
  for (const field of ["email", "mobile"] as const) {
    if (body[field] !== undefined && body[field] !== account[field]) {
      throw invalidRequest(`${field}: an account's ${field} cannot be changed`, field);
    }
  }
  if (body.proxy_id !== undefined && body.proxy_id !== account.proxy_id) {
    throw invalidRequest("proxy_id: PUT /admin/accounts/{identifier}/proxy binds an account", "proxy_id");
  }
  const tokenOnly = account.email === "" && account.mobile === "";
  if (tokenOnly && body.token) {
    throw invalidRequest("token: this account is named by its token; add a new account instead", "token");
  }
  const changed = {
    ...account,
    name: body.name ?? account.name,
    remark: body.remark ?? account.remark,
    password: body.password || account.password,
    token: body.token || account.token,
    disabled: body.disabled ?? account.disabled,
    weight: body.weight ?? account.weight,
    ...normalizedProvider(body.provider ?? account.provider),
  };
  return withAuth(changed, body.auth, account);
}

/** Endpoints that read, change or delete one account. */
export const ACCOUNT_ENDPOINTS = [
  /** `GET /admin/accounts/{identifier}`: one account, with the entity tag for its edits. */
  adminEndpoint({
    method: "GET",
    path: "/admin/accounts/:identifier",
    summary: "Read an account",
    answers: jsonResponse(accountViewSchema),
    ...ENTRY_HEADERS,
    handler: async (context, { params: { identifier = "" } }) => {
      const snapshot = await context.platform.configuration.readFresh();
      const index = await findAccountIndex(snapshot.config, identifier);
      const [view] = await accountViews(context, snapshot.config, [index]);
      return Response.json(view, { headers: await accountTag(snapshot, identifier) });
    },
  }),
  /** `PUT /admin/accounts/{identifier}` (docs/contract/admin-entries.md). */
  adminEndpoint({
    method: "PUT",
    path: "/admin/accounts/:identifier",
    summary: "Change an account",
    body: accountChangeSchema,
    answers: jsonResponse(accountsChangedSchema),
    ...ENTRY_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params: { identifier = "" }, body }) => {
      const snapshot = await editAccount(context, identifier, (account) => applyAccountChange(account, body));
      const answer = { success: true, total_accounts: snapshot.config.accounts.length };
      return Response.json(answer, { headers: await accountTag(snapshot, identifier) });
    },
  }),
  /** `DELETE /admin/accounts/{identifier}` (docs/contract/admin-entries.md). */
  adminEndpoint({
    method: "DELETE",
    path: "/admin/accounts/:identifier",
    summary: "Delete an account",
    answers: jsonResponse(accountsChangedSchema),
    ...VERSION_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params: { identifier = "" } }) => {
      const entry = (current: Config) => findAccount(current, identifier);
      const remove = async (current: Config) => {
        const removed = await entry(current);
        return { ...current, accounts: current.accounts.filter((account) => account !== removed) };
      };
      return accountsChangedResponse(await editConfig(context, remove, { keep: true, entry }));
    },
  }),
  /** `PUT /admin/accounts/{identifier}/proxy` (docs/contract/admin-entries.md). */
  adminEndpoint({
    method: "PUT",
    path: "/admin/accounts/:identifier/proxy",
    summary: "Bind an account to a proxy",
    body: proxyBindingSchema,
    answers: jsonResponse(() => successSchema().extend({ identifier: z.string(), proxy_id: z.string() })),
    ...ENTRY_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params: { identifier = "" }, body: { proxy_id } }) => {
      const snapshot = await editAccount(context, identifier, (account, config) => {
        assertProxyExists(config, proxy_id);
        return { ...account, proxy_id };
      });
      const headers = await accountTag(snapshot, identifier);
      return Response.json({ success: true, identifier, proxy_id }, { headers });
    },
  }),
] satisfies readonly Endpoint[];
