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

/** An account as the gateway shows it: no secrets. */
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

/** The outcome of one account's test; `response_time` is in milliseconds. */
export type TestResult = z.output<typeof testResult>;

const testAllStatus = z.object({
  running: flag,
  total: number,
  done: number,
  success: number,
  failed: number,
  /** Unix milliseconds; 0 while it runs. */
  finished_at: number,
  failures: z._default(z.array(testResult), []),
  /** Only some accounts were to be tested. */
  some: flag,
});
export type TestAllStatus = z.output<typeof testAllStatus>;

/** What an account is made of; empty strings are fields that are not given. */
export interface AccountInput {
  readonly email?: string;
  readonly mobile?: string;
  readonly password?: string;
  readonly token?: string;
  readonly name?: string;
  readonly remark?: string;
  readonly proxy_id?: string;
  /** Empty: the default one. */
  readonly provider?: string;
  readonly disabled?: boolean;
  readonly weight?: number;
}

/** The largest page that the gateway gives. */
export const LARGEST_PAGE = 5_000;

const path = (identifier: string, rest = "") => `/admin/accounts/${encodeURIComponent(identifier)}${rest}`;

/** How a list of accounts is narrowed down and ordered, as the gateway takes it. */
export interface AccountFilter {
  /** In identifier, e-mail, mobile, name or remark. */
  readonly q: string;
  readonly health: string;
  /** Null: whatever it is; empty: none. */
  readonly proxy: string | null;
  /** Null: whatever it is; empty: the default one. */
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

/** What can be done to many accounts at once. */
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

/** `resume`: after those that the last run has tested. Resolves when the run is over. */
export const testAllAccounts = (resume: boolean) =>
  call(anything, "/admin/accounts/test-all", { method: "POST", body: { resume } });

/** Tests only these; their progress is that of a test of all. */
export const testAccounts = (identifiers: readonly string[]) =>
  call(anything, "/admin/accounts/test-all", { method: "POST", body: { identifiers } });

export const cancelTestAll = () => call(anything, "/admin/accounts/test-all/cancel", { method: "POST" });

export const readTestAll = (signal?: AbortSignal) =>
  call(testAllStatus, "/admin/accounts/test-all/status", signal === undefined ? {} : { signal });

const deleted = z.object({ success: flag, message: text });

export const deleteSessions = (identifier: string) =>
  call(deleted, "/admin/accounts/sessions/delete-all", { method: "POST", body: { identifier } });

const imported = z.object({ imported_keys: number, imported_accounts: number });

/** `continues`: the part before it has been imported. */
export const importAccounts = (accounts: readonly AccountInput[], continues: boolean) =>
  call(imported, "/admin/import", { method: "POST", body: { accounts, continues } });
