import type { LogFields } from "../platform/context.ts";
import type { UsedRequest } from "../platform/usage.ts";

/** One answered request, as far as it is known when it is over. */
export interface AnsweredRequest {
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  readonly fields: LogFields;
}

/** How a request ended, for the books: by the error that it ended with, else by its status. */
function outcomeOf(status: number, { error, attempts }: LogFields): string {
  if (error === undefined && status < 400) return "success";
  if (error === "request_cancelled" || status === 499) return "cancelled";
  return attempts === undefined ? "refused" : "error";
}

/** What a request used of the provider, or would have; null for one that had nothing to do with it. */
export function usedBy(
  { status, durationMs, fields }: AnsweredRequest,
  provider: string,
): UsedRequest | null {
  const { dialect, operation } = fields;
  if (dialect === undefined || operation === undefined) return null;
  return {
    key: fields.key ?? "",
    requested_model: fields.requestedModel ?? "",
    model: fields.model ?? "",
    provider,
    account: fields.account ?? "",
    dialect,
    operation,
    outcome: outcomeOf(status, fields),
    status: fields.errorStatus ?? status,
    code: fields.error ?? "",
    promptTokens: fields.promptTokens ?? 0,
    cachedTokens: fields.cachedTokens ?? 0,
    completionTokens: fields.completionTokens ?? 0,
    reasoningTokens: fields.reasoningTokens ?? 0,
    attempts: fields.attempts ?? 0,
    durationMs,
    firstTokenMs: fields.firstTokenMs,
    queueMs: fields.queueMs,
  };
}
