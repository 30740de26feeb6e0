import type { Handler } from "../platform/context.ts";
import { EXPOSITION_TYPE, exposition } from "../telemetry/exposition.ts";

/** `GET /admin/metrics`: counts of all isolates, at most a few seconds old, and the account pool as it is, for Prometheus. */
export const metrics: Handler = async ({ platform }) => {
  const [counts, status] = await Promise.all([platform.archive.metrics(), platform.accounts.status()]);
  return new Response(exposition(counts, status), {
    headers: { "content-type": EXPOSITION_TYPE, "cache-control": "no-store" },
  });
};
