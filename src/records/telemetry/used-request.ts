import { readUsageDetails } from "../../core/conversation/usage-details.ts";
import type { LogFields } from "../../core/ports/context.ts";
import type { UsedRequest } from "../../core/ports/usage.ts";

/** A request with its response, as far as known at its end. */
export interface AnsweredRequest {
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  readonly fields: LogFields;
}

/** The outcome for the usage records: by the request's error, else by its status. */
function classifyOutcome(status: number, { error, attempts }: LogFields): string {
  if (error === undefined && status < 400) return "success";
  if (error === "request_cancelled" || status === 499) return "cancelled";
  return attempts === undefined ? "refused" : "error";
}

/** The usage of a request; null if it does not concern a provider. */
export function toUsedRequest(
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
    outcome: classifyOutcome(status, fields),
    team: fields.team ?? "",
    user: fields.user ?? "",
    tag: fields.tags ?? "",
    status: fields.errorStatus ?? status,
    code: fields.error ?? "",
    promptTokens: fields.promptTokens ?? 0,
    completionTokens: fields.completionTokens ?? 0,
    reasoningTokens: fields.reasoningTokens ?? 0,
    ...readUsageDetails(fields),
    attempts: fields.attempts ?? 0,
    durationMs,
    firstTokenMs: fields.firstTokenMs,
    queueMs: fields.queueMs,
  };
}
