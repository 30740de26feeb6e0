import { type Endpoint, forAdministrators } from "../routing/endpoint.ts";
import { EXPOSITION_TYPE, exposition } from "../telemetry/exposition.ts";

export const METRICS_ENDPOINTS: readonly Endpoint[] = [
  /**
   * `GET /admin/metrics`: counters of all isolates, at most a few seconds old, and the state of the account pool, for
   * Prometheus.
   */
  forAdministrators({
    method: "GET",
    path: "/admin/metrics",
    summary: "Metrics in Prometheus' text format",
    answers: () => ({ "text/plain": { type: "string" } }),
    handler: async ({ platform }) => {
      const [counts, status, keys] = await Promise.all([
        platform.archive.metrics(),
        platform.accounts.status(),
        platform.usage.keys(),
      ]);
      return new Response(exposition(counts, status, keys), {
        headers: { "content-type": EXPOSITION_TYPE, "cache-control": "no-store" },
      });
    },
  }),
];
