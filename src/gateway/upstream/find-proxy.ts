import type { Config } from "../../core/config/schema.ts";
import type { OutboundProxy } from "../../core/ports/upstream.ts";

/** Finds a proxy by its id. Null for an empty id or a proxy that no longer exists. */
export function findProxy(config: Config, proxyId: string): OutboundProxy | null {
  return proxyId === "" ? null : (config.proxies.find((proxy) => proxy.id === proxyId) ?? null);
}
