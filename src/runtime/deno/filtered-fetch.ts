import type { Fetch } from "../../core/ports/upstream.ts";

/** Hosts in these variables are fetched without any proxy. Deno reads them when it creates a client. */
const BYPASS_VARIABLES = ["NO_PROXY", "no_proxy"];

/**
 * Returns a `fetch` whose connections all go through the egress filter, whatever `NO_PROXY` says.
 *
 * @param filterUrl `socks5://host:port`. The filter resolves names.
 */
export function createFilteredFetch(filterUrl: string): Fetch {
  const client = withoutVariables(BYPASS_VARIABLES, () =>
    Deno.createHttpClient({ proxy: { url: filterUrl.replace("socks5:", "socks5h:") } }),
  );
  return (url, init) => fetch(url, { ...init, client });
}

/** Calls a function while environment variables are unset. */
function withoutVariables<Result>(names: readonly string[], call: () => Result): Result {
  const saved = names.map((name) => [name, Deno.env.get(name)] as const);
  for (const name of names) Deno.env.delete(name);
  try {
    return call();
  } finally {
    for (const [name, value] of saved) if (value !== undefined) Deno.env.set(name, value);
  }
}
