import type { AccountFilter } from "../../api/accounts.ts";
import type { ProviderView } from "../../api/providers.ts";
import type { ProxyView } from "../../api/proxies.ts";
import { CONDITIONS } from "../../api/queue.ts";
import { look } from "../../routing.ts";

/** Stands in the address for accounts without a proxy; ids of proxies stand behind a colon. */
const DIRECT = "direct";
/** The same for accounts of the default provider. */
const DEFAULT = "default";

/** How the list is looked at, by the page's address. */
export function filterIn(query: string): AccountFilter {
  const params = new URLSearchParams(query);
  const proxy = params.get("proxy");
  const provider = params.get("provider");
  return {
    q: params.get("q") ?? "",
    health: params.get("health") ?? "",
    proxy: proxy === null ? null : proxy === DIRECT ? "" : proxy.replace(/^:/, ""),
    provider: provider === null ? null : provider === DEFAULT ? "" : provider.replace(/^:/, ""),
    sort: params.get("sort") ?? "",
  };
}

const SORTS = [
  ["", "as configured"],
  ["health", "sick ones first"],
  ["used", "used last first"],
  ["name", "by name"],
] as const;
/** Where there are several of what they order by. */
const BY_PROXY = ["proxy", "by proxy"] as const;
const BY_PROVIDER = ["provider", "by provider"] as const;

interface AccountFiltersProps {
  readonly query: string;
  readonly proxies: readonly ProxyView[];
  /** Beside the default one. */
  readonly providers: readonly ProviderView[];
}

/** What the list is narrowed down to, and how it is ordered. */
export function AccountFilters({ query, proxies, providers }: AccountFiltersProps) {
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
      {providers.length > 0 &&
        choice("provider", "Provider", [
          ["", "any provider"],
          [DEFAULT, "the default provider"],
          ...providers.map(({ id, name }) => [`:${id}`, name || id] as const),
        ])}
      {choice("sort", "Order", [
        ...SORTS,
        ...(proxies.length > 0 ? [BY_PROXY] : []),
        ...(providers.length > 0 ? [BY_PROVIDER] : []),
      ])}
    </>
  );
}
