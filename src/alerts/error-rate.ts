import type { MetricDeltas } from "../platform/archive.ts";
import type { ErrorRate } from "./findings.ts";

const GENERATION = /^polygate_generations_total\{.*status="(\d+)".*error="([^"]*)"/;
/** What is the provider's fault or ours: not the caller's, and not that somebody left. */
const FAULT = /^(?:upstream_|model_unavailable$|account_login_failed$|internal_error$)/;

/** Generations so far, and those that failed by nobody's fault but the provider's or the gateway's. */
export function errorTotals(metrics: MetricDeltas): ErrorRate {
  let total = 0;
  let failed = 0;
  for (const [series, value] of Object.entries(metrics)) {
    const [, status = "", error = ""] = GENERATION.exec(series) ?? [];
    if (status === "") continue;
    total += value;
    if (Number(status) >= 500 || FAULT.test(error)) failed += value;
  }
  return { total, failed };
}
