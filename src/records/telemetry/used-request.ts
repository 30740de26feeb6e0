import { readUsageDetails } from "../../core/conversation/usage-details.ts";
import type { RequestFacts, RequestOutcome } from "../../core/ports/request-outcome.ts";
import type { UsedRequest } from "../../core/ports/usage.ts";

/** The outcome for the usage records: by the request's error, else by its status. */
function classifyOutcome(status: number, { error, attempts }: RequestFacts): string {
  if (error === undefined && status < 400) return "success";
  if (error === "request_cancelled" || status === 499) return "cancelled";
  return attempts === undefined ? "refused" : "error";
}

/** The usage of a request; null if it does not concern a provider. */
export function toUsedRequest(
  { status, durationMs, facts }: RequestOutcome,
  provider: string,
): UsedRequest | null {
  const { dialect, operation } = facts;
  if (dialect === undefined || operation === undefined) return null;
  return {
    key: facts.key ?? "",
    requested_model: facts.requestedModel ?? "",
    model: facts.model ?? "",
    provider,
    account: facts.account ?? "",
    dialect,
    operation,
    outcome: classifyOutcome(status, facts),
    team: facts.team ?? "",
    user: facts.user ?? "",
    tag: facts.tags ?? "",
    status: facts.errorStatus ?? status,
    code: facts.error ?? "",
    promptTokens: facts.promptTokens ?? 0,
    completionTokens: facts.completionTokens ?? 0,
    reasoningTokens: facts.reasoningTokens ?? 0,
    ...readUsageDetails(facts),
    attempts: facts.attempts ?? 0,
    ...(facts.cache === "hit" ? { isCacheHit: true } : {}),
    durationMs,
    firstTokenMs: facts.firstTokenMs,
    queueMs: facts.queueMs,
  };
}
