import { adminEndpoint, type Endpoint } from "../../../core/routing/endpoint.ts";
import { EXPOSITION_TYPE, formatExposition } from "../../../records/telemetry/exposition.ts";
import { listActiveProviders, readProviderHealth } from "./provider-health.ts";

export const METRICS_ENDPOINTS = [
  /**
   * `GET /admin/metrics`: counters of all isolates, at most a few seconds old, and the state of the account pool, for
   * Prometheus.
   */
  adminEndpoint({
    method: "GET",
    path: "/admin/metrics",
    summary: "Metrics in Prometheus' text format",
    answers: () => ({ "text/plain": { type: "string" } }),
    handler: async ({ platform }) => {
      const [counts, status, keys, { config }] = await Promise.all([
        platform.archive.readMetrics(),
        platform.accounts.getStatus(),
        platform.usage.listKeyUsage(),
        platform.configuration.readFresh(),
      ]);
      const providers = listActiveProviders(platform, config).map(
        (id) => [id, readProviderHealth(status, id).health] as const,
      );
      return new Response(formatExposition(counts, status, keys, new Map(providers)), {
        headers: { "content-type": EXPOSITION_TYPE, "cache-control": "no-store" },
      });
    },
  }),
] satisfies readonly Endpoint[];
