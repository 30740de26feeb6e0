import { DEFAULT_PROVIDER } from "../../../../core/config/provider-id.ts";
import type { AccountFilter } from "../../api/accounts.ts";
import type { ProviderView } from "../../api/providers.ts";
import type { ProxyView } from "../../api/proxies.ts";
import { setQuery } from "../../routing.ts";
import { CONDITIONS } from "../../shared/account-conditions.ts";
import { texts } from "./texts.ts";

/** URL value for accounts without a proxy. Proxy ids have a colon in front, so they cannot collide with it. */
const NO_PROXY = "direct";

/** Reads filters and order from the page's URL. */
export function parseFilter(query: string): AccountFilter {
  const params = new URLSearchParams(query);
  const proxy = params.get("proxy");
  const provider = params.get("provider");
  return {
    q: params.get("q") ?? "",
    health: params.get("health") ?? "",
    proxy: proxy === null ? null : proxy === NO_PROXY ? "" : proxy.replace(/^:/, ""),
    provider: provider === null ? null : provider === DEFAULT_PROVIDER ? "" : provider.replace(/^:/, ""),
    sort: params.get("sort") ?? "",
  };
}

const SORTS = [
  ["", texts.asConfigured],
  ["health", texts.unhealthyFirst],
  ["used", texts.recentlyUsedFirst],
  ["name", texts.byName],
] as const;
/** Sort orders that are offered only if there are proxies, or several providers. */
const BY_PROXY = ["proxy", texts.byProxy] as const;
const BY_PROVIDER = ["provider", texts.byProvider] as const;

interface AccountFiltersProps {
  readonly query: string;
  readonly proxies: readonly ProxyView[];
  /** Providers besides the default one. */
  readonly providers: readonly ProviderView[];
}

/** Controls for filters and order of the list. */
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
        setQuery(params.toString(), true);
      }}
    >
      {choices.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
  return (
    <>
      {choice("health", texts.health, [
        ["", texts.anyHealth],
        ["failing,cooling", texts.needsAttention],
        ...CONDITIONS.map(([name, label]) => [name, label] as const),
      ])}
      {proxies.length > 0 &&
        choice("proxy", texts.proxy, [
          ["", texts.anyProxy],
          [NO_PROXY, texts.noProxy],
          ...proxies.map(({ id, name, host }) => [`:${id}`, name || host] as const),
        ])}
      {providers.length > 0 &&
        choice("provider", texts.provider, [
          ["", texts.anyProvider],
          [DEFAULT_PROVIDER, texts.defaultProvider],
          ...providers.map(({ id, name }) => [`:${id}`, name || id] as const),
        ])}
      {choice("sort", texts.order, [
        ...SORTS,
        ...(proxies.length > 0 ? [BY_PROXY] : []),
        ...(providers.length > 0 ? [BY_PROVIDER] : []),
      ])}
    </>
  );
}
