import { DEFAULT_PROVIDER } from "../config/schema.ts";
import type { Platform } from "../platform/platform.ts";
import type { Counts } from "./counts.ts";
import {
  GENERATIONS,
  HTTP_REQUESTS,
  PAGE_REQUESTS,
  QUEUE_WAIT,
  REQUEST_DURATION,
  RETRIES,
  TIME_TO_FIRST_TOKEN,
  TOKEN_USAGE,
  UPSTREAM_ERRORS,
} from "./metric-names.ts";
import { outboxOf } from "./outbox.ts";
import { type AnsweredRequest, usedBy } from "./used-by.ts";

const UPSTREAM_CODES = /^(?:upstream_|model_unavailable$|account_login_failed$)/;
const PAGE_OPERATIONS: Readonly<Record<string, string>> = {
  "/v1/thumbs": "thumbnail",
  "/v1/technologies": "technologies",
  "/v1/metadata": "metadata",
};

/** Probes come for ever and say nothing. */
const PROBES = new Set(["/healthz", "/readyz"]);
/** Anything else is one label: clients can make methods up. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);

/**
 * Counts a request: a few additions. The promise is settled when the counts have left with a message to the archive; null:
 * nothing was counted.
 */
export function recordRequest(platform: Platform, answered: AnsweredRequest): Promise<void> | null {
  if (PROBES.has(answered.fields.route ?? "")) return null;
  const outbox = outboxOf(platform);
  const { providerDriver } = platform.variables;
  const { provider: asked = DEFAULT_PROVIDER } = answered.fields;
  const provider = asked === DEFAULT_PROVIDER ? providerDriver : asked;
  count(outbox.counts, provider, answered);
  const used = usedBy(answered, provider);
  if (used !== null) outbox.usage.count(used, platform.now());
  return outbox.settled();
}

function count(
  counts: Counts,
  provider: string,
  { method, status, durationMs, fields }: AnsweredRequest,
): void {
  const { route = "" } = fields;
  const code = String(status);
  counts.add(HTTP_REQUESTS, { route, method: METHODS.has(method) ? method : "other", status: code });
  const page = PAGE_OPERATIONS[route];
  if (page !== undefined) counts.add(PAGE_REQUESTS, { operation: page, status: code });
  const { dialect, model, error, operation } = fields;
  if (dialect === undefined || model === undefined || operation !== "chat") return;
  // A stream that broke off was answered with 200 all the same: its error says how it ended.
  counts.add(GENERATIONS, { dialect, model, status: code, error: error ?? "" });
  if (error !== undefined && UPSTREAM_CODES.test(error)) counts.add(UPSTREAM_ERRORS, { code: error });
  if (fields.retries !== undefined) counts.add(RETRIES, { model }, fields.retries);
  const labels = {
    gen_ai_operation_name: "chat",
    gen_ai_provider_name: provider,
    gen_ai_request_model: model,
  };
  counts.observe(
    REQUEST_DURATION,
    error === undefined ? labels : { ...labels, error_type: error },
    durationMs / 1000,
  );
  if (fields.queueMs !== undefined) counts.observe(QUEUE_WAIT, {}, fields.queueMs / 1000);
  if (fields.firstTokenMs !== undefined) {
    counts.observe(TIME_TO_FIRST_TOKEN, labels, fields.firstTokenMs / 1000);
  }
  for (const [kind, tokens] of [
    ["input", fields.promptTokens],
    ["output", fields.completionTokens],
  ] as const) {
    if (tokens !== undefined) counts.observe(TOKEN_USAGE, { ...labels, gen_ai_token_type: kind }, tokens);
  }
}
