import * as z from "zod/mini";
import { callApi, callVersioned } from "./client.ts";
import { booleanField, ignoredResponse, numberField, textField } from "./fields.ts";
import { sendUndoable } from "./undo.ts";

const cooldown = z.object({ kind: textField, reason: textField, failures: numberField, until: numberField });

const rate = z.object({ requests: numberField, succeeded: numberField });

/** How an account authenticates, by the names of the configuration. Secrets are masked. */
const authSchema = z.catchall(z.object({ type: z.string() }), z.string());
export type AccountAuth = z.output<typeof authSchema>;

const accountSchema = z.object({
  identifier: z.string(),
  email: textField,
  mobile: textField,
  has_password: booleanField,
  has_token: booleanField,
  token_preview: textField,
  test_status: textField,
  name: textField,
  remark: textField,
  proxy_id: textField,
  disabled: booleanField,
  weight: z._default(z.number(), 1),
  condition: textField,
  provider: textField,
  auth: z._default(authSchema, { type: "api_key" }),
  cooldown: z.nullish(cooldown),
  quotas: z._default(
    z.array(z.object({ name: z.string(), remaining: numberField, resets_at: numberField })),
    [],
  ),
  activity: z.nullish(
    z.object({
      in_flight: numberField,
      last_used: numberField,
      last_success: numberField,
      last_fault: z.nullish(
        z.object({ kind: textField, reason: textField, fault: textField, at: numberField }),
      ),
      last_hour: rate,
      last_day: rate,
    }),
  ),
});

/** An account as the gateway shows it, without secrets. */
export type Account = z.output<typeof accountSchema>;

const accountPage = z.object({
  items: z.array(accountSchema),
  total: numberField,
  page: numberField,
  total_pages: numberField,
});

const testResult = z.object({
  account: textField,
  success: booleanField,
  response_time: numberField,
  message: textField,
  session_count: numberField,
  config_warning: textField,
});

/** Result of one account's test; `response_time` is in milliseconds. */
export type TestResult = z.output<typeof testResult>;

const testAllStatus = z.object({
  running: booleanField,
  total: numberField,
  done: numberField,
  success: numberField,
  failed: numberField,
  /** Unix milliseconds; 0 while the test runs. */
  finished_at: numberField,
  failures: z._default(z.array(testResult), []),
  /** The run covers only some accounts. */
  some: booleanField,
});
export type TestAllStatus = z.output<typeof testAllStatus>;

/** Fields of an account. Empty strings mean: not given. */
export interface AccountInput {
  readonly email?: string;
  readonly mobile?: string;
  readonly password?: string;
  readonly token?: string;
  readonly name?: string;
  readonly remark?: string;
  readonly proxy_id?: string;
  /** Provider id; empty: the default provider. */
  readonly provider?: string;
  readonly disabled?: boolean;
  readonly weight?: number;
  /** Empty and masked secrets keep their stored values. */
  readonly auth?: AccountAuth;
}

/** Largest page size that the gateway accepts. */
export const LARGEST_PAGE = 5_000;

const accountPath = (identifier: string, suffix = "") =>
  `/admin/accounts/${encodeURIComponent(identifier)}${suffix}`;

/** Query of a list of accounts: filters and order, as the gateway expects them. */
export interface AccountFilter {
  /** Text in identifier, e-mail, mobile, name or remark. */
  readonly q: string;
  readonly health: string;
  /** null: no filter; empty: accounts without a proxy. */
  readonly proxy: string | null;
  /** null: no filter; empty: accounts of the default provider. */
  readonly provider: string | null;
  readonly sort: string;
}

export function listAccounts(filter: AccountFilter, page: number, size: number, signal?: AbortSignal) {
  const { q, health, proxy, provider, sort } = filter;
  const search = new URLSearchParams({ q, health, sort, page: String(page), page_size: String(size) });
  if (proxy !== null) search.set("proxy_id", proxy);
  if (provider !== null) search.set("provider", provider);
  return callApi(accountPage, `/admin/accounts?${search}`, signal === undefined ? {} : { signal });
}

const accountAddedSchema = z.object({ identifier: textField });

export const addAccount = (body: AccountInput) =>
  callApi(accountAddedSchema, "/admin/accounts", { method: "POST", body });

/** Reads one account. */
export const readAccount = (identifier: string) => callVersioned(accountSchema, accountPath(identifier));

/** Returns the new entity tag, for an edit that follows. */
export async function changeAccount(
  identifier: string,
  body: AccountInput,
  ifMatch: string | undefined,
): Promise<string | undefined> {
  const answer = await callVersioned(z.object({}), accountPath(identifier), { method: "PUT", body, ifMatch });
  return answer.tag;
}

export const deleteAccount = (identifier: string) =>
  sendUndoable(accountPath(identifier), { method: "DELETE" });

/** An action on many accounts at once. */
export interface BulkEdit {
  readonly action: "enable" | "disable" | "delete" | "bind";
  readonly identifiers: readonly string[];
  /** For `bind`; empty unbinds. */
  readonly proxy_id?: string;
}

export const editAccounts = (body: BulkEdit) =>
  sendUndoable("/admin/accounts/bulk", { method: "POST", body });

export const bindProxy = (identifier: string, proxy_id: string, ifMatch: string | undefined) =>
  callApi(ignoredResponse, accountPath(identifier, "/proxy"), { method: "PUT", body: { proxy_id }, ifMatch });

export const testAccount = (identifier: string) =>
  callApi(testResult, "/admin/accounts/test", { method: "POST", body: { identifier } });

/** Tests all accounts. `resume` continues the last run. Resolves when the run is over. */
export const testAllAccounts = (resume: boolean) =>
  callApi(ignoredResponse, "/admin/accounts/test-all", { method: "POST", body: { resume } });

/** Tests only these accounts. The progress is reported like that of a test of all accounts. */
export const testAccounts = (identifiers: readonly string[]) =>
  callApi(ignoredResponse, "/admin/accounts/test-all", { method: "POST", body: { identifiers } });

export const cancelTestAll = () =>
  callApi(ignoredResponse, "/admin/accounts/test-all/cancel", { method: "POST" });

export const readTestAll = (signal?: AbortSignal) =>
  callApi(testAllStatus, "/admin/accounts/test-all/status", signal === undefined ? {} : { signal });

const sessionsDeletedSchema = z.object({ success: booleanField, message: textField });

export const deleteSessions = (identifier: string) =>
  callApi(sessionsDeletedSchema, "/admin/accounts/sessions/delete-all", {
    method: "POST",
    body: { identifier },
  });

const accountsImportedSchema = z.object({ imported_keys: numberField, imported_accounts: numberField });

/** `continues`: an earlier request has imported the previous part of the list. */
export const importAccounts = (accounts: readonly AccountInput[], continues: boolean) =>
  callApi(accountsImportedSchema, "/admin/import", { method: "POST", body: { accounts, continues } });
