import { callApi, callVersioned } from "./client.ts";
import type { AnswerOf, BodyOf } from "./endpoints.ts";
import { sendUndoable } from "./undo.ts";

/** An account as the gateway shows it, without secrets. */
export type Account = AnswerOf<"GET /admin/accounts">["items"][number];
/** Result of one account's test; `response_time` is in milliseconds. */
export type TestResult = AnswerOf<"POST /admin/accounts/test">;
export type TestAllStatus = AnswerOf<"GET /admin/accounts/test-all/status">;
/** Fields of an account. Empty texts mean: not given. Empty and masked secrets keep their stored values. */
export type AccountInput = BodyOf<"PUT /admin/accounts/:identifier">;
export type AccountAuth = NonNullable<AccountInput["auth"]>;
/** An action on many accounts at once. */
export type BulkEdit = BodyOf<"POST /admin/accounts/bulk">;

/** Largest page size that the gateway accepts. */
export const LARGEST_PAGE = 5_000;

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
  return callApi("GET /admin/accounts", { query: search, signal });
}

/** Reads the names of the accounts that have one, by identifier. */
export const readAccountNames = async (signal?: AbortSignal): Promise<ReadonlyMap<string, string>> =>
  new Map(Object.entries((await callApi("GET /admin/account-names", { signal })).names));

export const addAccount = (body: BodyOf<"POST /admin/accounts">) => callApi("POST /admin/accounts", { body });

/** Reads one account. */
export const readAccount = (identifier: string) =>
  callVersioned("GET /admin/accounts/:identifier", { params: { identifier } });

/** Returns the new entity tag, for an edit that follows. */
export async function changeAccount(
  identifier: string,
  body: AccountInput,
  ifMatch: string | undefined,
): Promise<string | undefined> {
  const request = { params: { identifier }, body, ifMatch };
  return (await callVersioned("PUT /admin/accounts/:identifier", request)).tag;
}

export const deleteAccount = (identifier: string) =>
  sendUndoable("DELETE /admin/accounts/:identifier", { params: { identifier } });

export const editAccounts = (body: BulkEdit) => sendUndoable("POST /admin/accounts/bulk", { body });

export const bindProxy = (identifier: string, proxy_id: string, ifMatch: string | undefined) =>
  callApi("PUT /admin/accounts/:identifier/proxy", { params: { identifier }, body: { proxy_id }, ifMatch });

export const testAccount = (identifier: string) =>
  callApi("POST /admin/accounts/test", { body: { identifier } });

/** Tests all accounts. `resume` continues the last run. Resolves when the run is over. */
export const testAllAccounts = (resume: boolean) =>
  callApi("POST /admin/accounts/test-all", { body: { resume } });

/** Tests only these accounts. The progress is reported like that of a test of all accounts. */
export const testAccounts = (identifiers: readonly string[]) =>
  callApi("POST /admin/accounts/test-all", { body: { identifiers } });

export const cancelTestAll = () => callApi("POST /admin/accounts/test-all/cancel");

export const readTestAll = (signal?: AbortSignal) =>
  callApi("GET /admin/accounts/test-all/status", { signal });

export const deleteSessions = (identifier: string) =>
  callApi("POST /admin/accounts/sessions/delete-all", { body: { identifier } });

/** `continues`: an earlier request has imported the previous part of the list. */
export const importAccounts = (accounts: readonly object[], continues: boolean) =>
  callApi("POST /admin/import", { body: { accounts, continues } });
