import type { Context } from "../../core/ports/context.ts";
import type { OutboundProxy } from "../../core/ports/upstream.ts";
import type { UpstreamAccount } from "../providers/upstream-account.ts";
import { createUpstreamFetch, type ProviderProtocol } from "./fetch.ts";

/** Creates the ways in which an account's requests reach the provider, through a proxy if one is given. */
export function createAccess(
  context: Context,
  proxy: OutboundProxy | null,
  protocol?: ProviderProtocol,
  reportQuota?: Parameters<typeof createUpstreamFetch>[3],
): Pick<UpstreamAccount, "fetch" | "openSocket"> {
  return {
    fetch: createUpstreamFetch(context, proxy, protocol, reportQuota),
    // Few isolates open WebSockets.
    openSocket: async (...request) =>
      (await import("./socket.ts")).openUpstreamSocket(context.platform, proxy, protocol, request),
  };
}
