import { DEFAULT_PROVIDER } from "../../core/config/schema.ts";
import type { ConfigSnapshot } from "../../core/config/snapshot.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { type Counts, HistogramSeries, seriesName } from "./counts.ts";
import { PAGE_REQUESTS, QUEUE_WAIT, UPSTREAM_ERRORS } from "./metric-names.ts";
import { getOutbox } from "./outbox.ts";
import { getGenerationSeries, getHttpSeries } from "./request-series.ts";
import { countSubjects } from "./subject-series.ts";
import { countUsageDetails } from "./usage-series.ts";
import { type AnsweredRequest, toUsedRequest } from "./used-request.ts";

const UPSTREAM_CODES = /^(?:upstream_|model_unavailable$|account_login_failed$)/;
const PAGE_OPERATIONS: Readonly<Record<string, string>> = {
  "/v1/thumbs": "thumbnail",
  "/v1/technologies": "technologies",
  "/v1/metadata": "metadata",
  "/v1/content": "content",
};

/** Health checks repeat endlessly and carry no information. */
const PROBES = new Set(["/healthz", "/readyz"]);
/** All other methods share one label, because clients can invent methods. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);

const queueWait = new HistogramSeries(QUEUE_WAIT, {});

/**
 * Counts a request whose outcome is known, and writes its stored outcome before the response ends; the log reports if that
 * fails. The promise settles when the counts have been sent to the archive; null: nothing was counted.
 *
 * @param snapshot the configuration that the request read; null: none
 */
export function recordRequest(
  platform: Platform,
  answered: AnsweredRequest,
  snapshot: ConfigSnapshot | null,
): Promise<void> | null {
  if (PROBES.has(answered.fields.route ?? "")) return null;
  const outbox = getOutbox(platform);
  const { team, user, tags } = answered.fields;
  if (snapshot !== null && (team !== undefined || user !== undefined || tags !== undefined))
    countSubjects(outbox.counts, snapshot.config, answered.fields);
  const { providerDriver } = platform.variables;
  const { provider: providerId = DEFAULT_PROVIDER } = answered.fields;
  const provider = providerId === DEFAULT_PROVIDER ? providerDriver : providerId;
  countRequest(outbox.counts, provider, answered);
  const failure = outbox.endRequest(toUsedRequest(answered, provider), snapshot);
  if (failure !== null) answered.fields.cause = `the outcome was not stored yet: ${failure.message}`;
  return outbox.waitUntilSent();
}

function countRequest(
  counts: Counts,
  provider: string,
  { method, status, durationMs, fields }: AnsweredRequest,
): void {
  const { route = "" } = fields;
  counts.add(getHttpSeries(route, METHODS.has(method) ? method : "other", status));
  const page = PAGE_OPERATIONS[route];
  if (page !== undefined) counts.add(seriesName(PAGE_REQUESTS, { operation: page, status: String(status) }));
  const { dialect, model, error, operation, queueMs, firstTokenMs, promptTokens, completionTokens } = fields;
  if (dialect === undefined || model === undefined || operation !== "chat") return;
  const names = getGenerationSeries({ dialect, provider, model, status, error });
  counts.add(names.generations);
  if (error !== undefined && UPSTREAM_CODES.test(error))
    counts.add(seriesName(UPSTREAM_ERRORS, { code: error }));
  if (fields.retries !== undefined) counts.add(names.retries, fields.retries);
  counts.observe(names.duration, durationMs / 1000);
  if (queueMs !== undefined) counts.observe(queueWait, queueMs / 1000);
  if (firstTokenMs !== undefined) counts.observe(names.firstToken, firstTokenMs / 1000);
  if (promptTokens !== undefined) counts.observe(names.input, promptTokens);
  if (completionTokens !== undefined) counts.observe(names.output, completionTokens);
  countUsageDetails(counts, provider, model, fields);
}
