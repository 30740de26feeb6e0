import type { AccountFilter } from "../../api/accounts.ts";
import type { ProxyView } from "../../api/proxies.ts";
import { CONDITIONS } from "../../api/queue.ts";
import { look } from "../../routing.ts";

/** Stands in the address for accounts without a proxy; ids of proxies stand behind a colon. */
const DIRECT = "direct";

/** How the list is looked at, by the page's address. */
export function filterIn(query: string): AccountFilter {
  const params = new URLSearchParams(query);
  const proxy = params.get("proxy");
  return {
    q: params.get("q") ?? "",
    health: params.get("health") ?? "",
    proxy: proxy === null ? null : proxy === DIRECT ? "" : proxy.replace(/^:/, ""),
    sort: params.get("sort") ?? "",
  };
}

const SORTS = [
  ["", "as configured"],
  ["health", "sick ones first"],
  ["used", "used last first"],
  ["name", "by name"],
] as const;

interface AccountFiltersProps {
  readonly query: string;
  readonly proxies: readonly ProxyView[];
}

/** What the list is narrowed down to, and how it is ordered. */
export function AccountFilters({ query, proxies }: AccountFiltersProps) {
  const params = new URLSearchParams(query);
  const choice = (name: string, label: string, choices: readonly (readonly [string, string])[]) => (
    <select
      aria-label={label}
      value={params.get(name) ?? ""}
      onChange={(event) => {
        const { value } = event.currentTarget;
        if (value === "") params.delete(name);
        else params.set(name, value);
        params.delete("page");
        look(params.toString(), true);
      }}
    >
      {choices.map(([value, said]) => (
        <option key={value} value={value}>
          {said}
        </option>
      ))}
    </select>
  );
  return (
    <>
      {choice("health", "Health", [
        ["", "any health"],
        ["failing,cooling", "needs a look"],
        ...CONDITIONS.map(([name, said]) => [name, said] as const),
      ])}
      {proxies.length > 0 &&
        choice("proxy", "Proxy", [
          ["", "any proxy"],
          [DIRECT, "no proxy"],
          ...proxies.map(({ id, name, host }) => [`:${id}`, name || host] as const),
        ])}
      {choice("sort", "Order", SORTS)}
    </>
  );
}
