import { adminEndpoint, type Endpoint } from "../../core/routing/endpoint.ts";
import { EXPOSITION_TYPE, formatExposition } from "../../records/telemetry/exposition.ts";

export const METRICS_ENDPOINTS: readonly Endpoint[] = [
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
      const [counts, status, keys] = await Promise.all([
        platform.archive.readMetrics(),
        platform.accounts.getStatus(),
        platform.usage.listKeyUsage(),
      ]);
      return new Response(formatExposition(counts, status, keys), {
        headers: { "content-type": EXPOSITION_TYPE, "cache-control": "no-store" },
      });
    },
  }),
];
