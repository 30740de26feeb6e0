import type { MetricDeltas } from "../../core/ports/archive.ts";
import type { ErrorRate } from "./evaluate-rules.ts";

/** The last two labels of a generation series, in the format of `src/records/telemetry/request-series.ts`. */
const OUTCOME = /,status="(\d+)",error="([^"]*)"\}$/;
/** Error codes that are the provider's or the gateway's fault: not the caller's, and no disconnects. */
const FAULT = /^(?:upstream_|model_unavailable$|account_login_failed$|internal_error$)/;

/** Total generations, and those that failed by the provider's or the gateway's fault. */
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
