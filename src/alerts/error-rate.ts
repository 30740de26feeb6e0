import type { MetricDeltas } from "../platform/archive.ts";
import type { ErrorRate } from "./findings.ts";

/** The last two labels of a series of generations, as `src/telemetry/request-series.ts` writes them. */
const OUTCOME = /,status="(\d+)",error="([^"]*)"\}$/;
/** What is the provider's fault or ours: not the caller's, and not that somebody left. */
const FAULT = /^(?:upstream_|model_unavailable$|account_login_failed$|internal_error$)/;

/** Generations so far, and those that failed by nobody's fault but the provider's or the gateway's. */
export function errorTotals(metrics: MetricDeltas): ErrorRate {
  let total = 0;
  let failed = 0;
  for (const [series, value] of Object.entries(metrics)) {
    if (!series.startsWith("polygate_generations_total{")) continue;
    const [, status = "", error = ""] = OUTCOME.exec(series) ?? [];
    if (status === "") continue;
    total += value;
    if (Number(status) >= 500 || FAULT.test(error)) failed += value;
  }
  return { total, failed };
}
