import { decodePercent } from "../../core/encoding/percent.ts";
import { createStore, useStore } from "./store.ts";

/** The console's URL: `#/history/abc?q=x` is the page `history` with the detail `abc` and the query `q=x`. */
export interface ConsoleAddress {
  readonly page: string;
  readonly detail: string;
  /** Search, filters and paging, as a query string without its question mark. */
  readonly query: string;
}

function read(): ConsoleAddress {
  const hash = location.hash.replace(/^#\/?/, "");
  const queryStart = hash.indexOf("?");
  const [page = "", ...rest] = (queryStart === -1 ? hash : hash.slice(0, queryStart)).split("/");
  const detail = rest.join("/");
  return {
    page: page === "" ? "overview" : page,
    detail: decodePercent(detail) ?? detail,
    query: queryStart === -1 ? "" : hash.slice(queryStart + 1),
  };
}

const consoleAddress = createStore<ConsoleAddress>(read());

/** Called before the user leaves a page; `leave` leaves it. */
export type LeaveGuard = (leave: () => void) => void;

let guards: readonly LeaveGuard[] = [];

/**
 * Adds a guard that runs before the page is left, by a link or by the browser's Back button. Returns a function that
 * removes it.
 */
export function addLeaveGuard(guard: LeaveGuard): () => void {
  guards = [...guards, guard];
  return () => {
    guards = guards.filter((other) => other !== guard);
  };
}

addEventListener("hashchange", () => {
  const next = read();
  const now = consoleAddress.get();
  const guard = guards.at(-1);
  if (guard === undefined || next.page === now.page) return consoleAddress.set(next);
  const target = location.hash;
  history.replaceState(null, "", formatHref(now.page, now.detail, now.query));
  guard(() => {
    guards = [];
    location.hash = target;
  });
});

export const useAddress = (): ConsoleAddress => useStore(consoleAddress);

/** Formats the URL of a page, for links. */
export function formatHref(page: string, detail = "", query = ""): string {
  const path = detail === "" ? `#/${page}` : `#/${page}/${encodeURIComponent(detail)}`;
  return query === "" ? path : `${path}?${query}`;
}

export function navigateTo(page: string, detail = "", query = ""): void {
  location.hash = formatHref(page, detail, query);
}

/** Changes the query of the current page. `addsEntry`: adds an entry to the browser's history. */
export function setQuery(query: string, addsEntry: boolean): void {
  const { page, detail } = consoleAddress.get();
  const address = formatHref(page, detail, query);
  if (addsEntry) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  consoleAddress.set(read());
}
