import { DEFAULT_PROVIDER, toProviderId } from "../../core/config/provider-id.ts";
import type { ConfigSnapshot } from "../../core/config/snapshot.ts";
import { getOperationPath, PAGE_OPERATIONS } from "../../core/ports/page-jobs.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { RequestOutcome } from "../../core/ports/request-outcome.ts";
import { type Counts, formatSeriesName, HistogramSeries } from "./counts.ts";
import { CACHE_REQUESTS, PAGE_REQUESTS, QUEUE_WAIT, UPSTREAM_ERRORS } from "./metric-names.ts";
import { getOutbox } from "./outbox.ts";
import { getGenerationSeries, getHttpSeries } from "./request-series.ts";
import { hasUnlistedProviderError, toRequestUsage } from "./request-usage.ts";
import { countSubjects } from "./subject-series.ts";
import { countUsageDetails } from "./usage-series.ts";

/** The label of each operation of the page service, by its route. */
const PAGE_LABELS: ReadonlyMap<string, string> = new Map(
  PAGE_OPERATIONS.map((name) => [getOperationPath(name), name === "thumbs" ? "thumbnail" : name]),
);

/** Health checks repeat endlessly and carry no information. */
const PROBES = new Set(["/healthz", "/readyz"]);
/** All other methods share one label, because clients can invent methods. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);

const queueWait = new HistogramSeries(QUEUE_WAIT, {});

/** How the counting of a request went. */
export interface RecordedRequest {
  /** Settles when the counts have been sent to the archive; null: other requests send them, or nothing was counted. */
  readonly sending: Promise<void> | null;
  /** Why the outcome is not stored yet; the next message repeats it. */
  readonly failure: Error | null;
}

const NOT_RECORDED: RecordedRequest = { sending: null, failure: null };

/**
 * Counts a request in metrics and usage, and writes its stored outcome before the response ends.
 *
 * @param snapshot the configuration that the request read; null: none
 */
export function recordRequest(
  platform: Platform,
  outcome: RequestOutcome,
  snapshot: ConfigSnapshot | null,
): RecordedRequest {
  const { facts } = outcome;
  if (PROBES.has(facts.route ?? "")) return NOT_RECORDED;
  const outbox = getOutbox(platform);
  const { team, user, tags } = facts;
  if (snapshot !== null && (team !== undefined || user !== undefined || tags !== undefined))
    countSubjects(outbox.counts, snapshot.config, facts);
  const provider = toProviderId(facts.provider);
  // OpenTelemetry's convention for this label is the kind of provider.
  countRequest(
    outbox.counts,
    provider === DEFAULT_PROVIDER ? platform.variables.providerDriver : provider,
    outcome,
  );
  const failure = outbox.endRequest(toRequestUsage(outcome), snapshot);
  return { sending: outbox.waitUntilSent(), failure };
}

function countRequest(
  counts: Counts,
  provider: string,
  { method, status, durationMs, facts }: RequestOutcome,
): void {
  const { route = "" } = facts;
  counts.add(getHttpSeries(route, METHODS.has(method) ? method : "other", status));
  const page = PAGE_LABELS.get(route);
  if (page !== undefined)
    counts.add(formatSeriesName(PAGE_REQUESTS, { operation: page, status: String(status) }));
  if (facts.cache !== undefined) counts.add(formatSeriesName(CACHE_REQUESTS, { result: facts.cache }));
  // A cached answer is no generation.
  if (facts.cache === "hit") return;
  const { dialect, model, error, operation, queueMs, firstTokenMs, promptTokens, completionTokens } = facts;
  if (dialect === undefined || model === undefined || operation !== "chat") return;
  const names = getGenerationSeries({ dialect, provider, model, status, error });
  counts.add(names.generations);
  for (const { code } of facts.failedAttempts ?? []) counts.add(formatSeriesName(UPSTREAM_ERRORS, { code }));
  if (error !== undefined && hasUnlistedProviderError(facts))
    counts.add(formatSeriesName(UPSTREAM_ERRORS, { code: error }));
  if (facts.retries !== undefined) counts.add(names.retries, facts.retries);
  counts.observe(names.duration, durationMs / 1000);
  if (queueMs !== undefined) counts.observe(queueWait, queueMs / 1000);
  if (firstTokenMs !== undefined) counts.observe(names.firstToken, firstTokenMs / 1000);
  if (promptTokens !== undefined) counts.observe(names.input, promptTokens);
  if (completionTokens !== undefined) counts.observe(names.output, completionTokens);
  countUsageDetails(counts, provider, model, facts);
}
