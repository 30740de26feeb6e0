import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { OutboundProxy } from "../../core/ports/upstream.ts";
import type { OpenedSocket, OpenWebSocket } from "../../core/ports/web-socket.ts";
import { formatSeriesName } from "../../records/telemetry/counts.ts";
import { UPSTREAM_REQUESTS } from "../../records/telemetry/metric-names.ts";
import { getOutbox } from "../../records/telemetry/outbox.ts";
import type { ProviderProtocol } from "./fetch.ts";

const LABEL = "realtime";

/**
 * Opens a WebSocket to a provider, and counts it. Returns the response of a provider that refuses it.
 *
 * @throws GatewayError 501 through a proxy, ProviderError `unreachable`; the signal's reason if the signal is aborted
 */
export async function openUpstreamSocket(
  platform: Platform,
  proxy: OutboundProxy | null,
  protocol: ProviderProtocol | undefined,
  [url, headers, signal]: Parameters<OpenWebSocket>,
): Promise<OpenedSocket | Response> {
  if (proxy !== null) {
    throw new GatewayError(501, "WebSockets to a provider cannot go through a proxy", {
      code: "unsupported",
    });
  }
  const count = (status: string) =>
    getOutbox(platform).counts.add(formatSeriesName(UPSTREAM_REQUESTS, { operation: LABEL, status }));
  try {
    const all = new Headers(protocol?.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    const opened = await platform.openWebSocket(url, Object.fromEntries(all), signal);
    count(opened instanceof Response ? String(opened.status) : "101");
    return opened;
  } catch (error) {
    count(signal.aborted ? "cancelled" : "unreachable");
    signal.throwIfAborted();
    throw (await import("../providers/errors/connection-failure.ts")).createConnectionError(error);
  }
}
