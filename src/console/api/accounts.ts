import * as z from "zod/mini";
import { call } from "./client.ts";
import { anything, flag, number, text } from "./fields.ts";
import { undoable } from "./undo.ts";

const cooldown = z.object({ kind: text, reason: text, failures: number, until: number });

const rate = z.object({ requests: number, succeeded: number });

const account = z.object({
  identifier: z.string(),
  email: text,
  mobile: text,
  has_password: flag,
  has_token: flag,
  token_preview: text,
  test_status: text,
  name: text,
  remark: text,
  proxy_id: text,
  disabled: flag,
  weight: z._default(z.number(), 1),
  condition: text,
  provider: text,
  cooldown: z.nullish(cooldown),
  activity: z.nullish(
    z.object({
      in_flight: number,
      last_used: number,
      last_success: number,
      last_fault: z.nullish(z.object({ kind: text, reason: text, fault: text, at: number })),
      last_hour: rate,
      last_day: rate,
    }),
  ),
});

/** An account as the gateway shows it, without secrets. */
export type Account = z.output<typeof account>;

const accountPage = z.object({ items: z.array(account), total: number, page: number, total_pages: number });

const testResult = z.object({
  account: text,
  success: flag,
  response_time: number,
  message: text,
  session_count: number,
  config_warning: text,
});

/** Result of one account's test; `response_time` is in milliseconds. */
export type TestResult = z.output<typeof testResult>;

const testAllStatus = z.object({
  running: flag,
  total: number,
  done: number,
  success: number,
  failed: number,
  /** Unix milliseconds; 0 while the test runs. */
  finished_at: number,
  failures: z._default(z.array(testResult), []),
  /** The run covers only some accounts. */
  some: flag,
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
}

/** Largest page size that the gateway accepts. */
export const LARGEST_PAGE = 5_000;

const path = (identifier: string, rest = "") => `/admin/accounts/${encodeURIComponent(identifier)}${rest}`;

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
  return call(accountPage, `/admin/accounts?${search}`, signal === undefined ? {} : { signal });
}

const added = z.object({ identifier: text });

export const addAccount = (body: AccountInput) => call(added, "/admin/accounts", { method: "POST", body });

export const changeAccount = (identifier: string, body: AccountInput) =>
  call(anything, path(identifier), { method: "PUT", body });

export const deleteAccount = (identifier: string) => undoable(path(identifier), { method: "DELETE" });

/** An action on many accounts at once. */
export interface BulkEdit {
  readonly action: "enable" | "disable" | "delete" | "bind";
  readonly identifiers: readonly string[];
  /** For `bind`; empty unbinds. */
  readonly proxy_id?: string;
}

export const editAccounts = (body: BulkEdit) => undoable("/admin/accounts/bulk", { method: "POST", body });

export const bindProxy = (identifier: string, proxy_id: string) =>
  call(anything, path(identifier, "/proxy"), { method: "PUT", body: { proxy_id } });

export const testAccount = (identifier: string) =>
  call(testResult, "/admin/accounts/test", { method: "POST", body: { identifier } });

/** Tests all accounts. `resume` continues the last run. Resolves when the run is over. */
export const testAllAccounts = (resume: boolean) =>
  call(anything, "/admin/accounts/test-all", { method: "POST", body: { resume } });

/** Tests only these accounts. The progress is reported like that of a test of all accounts. */
export const testAccounts = (identifiers: readonly string[]) =>
  call(anything, "/admin/accounts/test-all", { method: "POST", body: { identifiers } });

export const cancelTestAll = () => call(anything, "/admin/accounts/test-all/cancel", { method: "POST" });

export const readTestAll = (signal?: AbortSignal) =>
  call(testAllStatus, "/admin/accounts/test-all/status", signal === undefined ? {} : { signal });

const deleted = z.object({ success: flag, message: text });

export const deleteSessions = (identifier: string) =>
  call(deleted, "/admin/accounts/sessions/delete-all", { method: "POST", body: { identifier } });

const imported = z.object({ imported_keys: number, imported_accounts: number });

/** `continues`: an earlier request has imported the previous part of the list. */
export const importAccounts = (accounts: readonly AccountInput[], continues: boolean) =>
  call(imported, "/admin/import", { method: "POST", body: { accounts, continues } });
