import { type Conversation, joinText } from "../../core/conversation/conversation.ts";
import type { Usage } from "../../core/conversation/events.ts";
import type { GenerationOutcome, RawOutput } from "../../core/conversation/outcome.ts";
import { toUsageDetails } from "../../core/conversation/usage-details.ts";
import { truncateText } from "../../core/encoding/text-slices.ts";
import type {
  FailedAttempt,
  HistorySummary,
  HistoryUsageDetails,
  SignInWait,
} from "../../core/ports/archive.ts";
import type { Context } from "../../core/ports/context.ts";
import type { RetryBudget } from "../../core/retries/retry-budget.ts";
import { findRequestCost, fromNano, listUnpricedParts, type Pricing } from "../../records/usage/prices.ts";
import { limitErrorForHistory } from "./stored-errors.ts";
import { createPreview, MAX_LABEL, redactForHistory, redactName } from "./stored-text.ts";

/** The list of a request's attempts. */
export type ListedAttempts = Pick<RetryBudget, "attempts" | "begunAttempts">;

/** The data for the summary of a generation. */
export interface SummarySource {
  /** The record's id. */
  readonly id: string;
  readonly context: Context;
  readonly conversation: Conversation;
  readonly output: RawOutput;
  readonly retries: ListedAttempts;
  /** The leased account; empty with the caller's own token. */
  readonly account: string;
  /** When it was leased, Unix milliseconds; 0: never. */
  readonly leasedAt: number;
  /** With messages that may be stored. */
  readonly failedAttempts: readonly FailedAttempt[];
  readonly signIns: readonly SignInWait[];
  /** Null while the generation runs. */
  readonly outcome: GenerationOutcome | null;
  /** Unix milliseconds; 0 while the generation runs. */
  readonly endedAt: number;
  /** The prices when the request came; null: unknown. */
  readonly pricing: Pricing | null;
}

function lastQuestion({ messages }: Conversation): string {
  const last = messages.findLast(({ role }) => role === "user") ?? messages.at(-1);
  return last === undefined ? "" : joinText(last.parts);
}

function toHistoryUsageDetails(usage: Usage | null): HistoryUsageDetails {
  const details = toUsageDetails(usage ?? { prompt: 0, completion: 0, reasoning: 0 });
  return {
    cached_tokens: details.cachedTokens,
    cache_write_5m_tokens: details.cacheWrite5mTokens,
    cache_write_1h_tokens: details.cacheWrite1hTokens,
    audio_input_tokens: details.audioInputTokens,
    audio_output_tokens: details.audioOutputTokens,
    image_input_tokens: details.imageInputTokens,
    image_output_tokens: details.imageOutputTokens,
    web_searches: details.webSearches,
    web_fetches: details.webFetches,
    audio_seconds: details.audioSeconds,
    search_units: details.searchUnits,
  };
}

function describeCost(
  { context, conversation, pricing }: SummarySource,
  usage: Usage | null,
): Pick<HistorySummary, "cost" | "unpriced"> {
  if (usage === null || pricing === null) return {};
  const { hasUncountedAnswer = false } = context.facts;
  const fields = {
    ...toUsageDetails(usage),
    model: conversation.model.id,
    requestedModel: conversation.model.requested,
    promptTokens: usage.prompt,
    completionTokens: usage.completion,
    reasoningTokens: usage.reasoning,
    hasUncountedAnswer,
  };
  const cost = findRequestCost(pricing, fields);
  const unpriced = listUnpricedParts(pricing, fields);
  return {
    cost: cost === null ? null : fromNano(cost),
    ...(unpriced.length === 0 ? {} : { unpriced }),
  };
}

/** Creates the part of a history record that lists show: everything but the texts of the request and the answer. */
export function createHistorySummary(source: SummarySource): HistorySummary {
  const { id, context, conversation, output, retries, outcome, endedAt } = source;
  const { request, requestId, facts, startedAt, platform } = context;
  const { history: mode } = facts;
  const redact = (text: string) => redactForHistory(text, mode);
  const toName = (text: string) => redactName(text, mode);
  const endUser = truncateText(redact(conversation.options.user ?? ""), MAX_LABEL);
  const calledFunctions = (output.calledFunctions ?? [])
    .map((name) => truncateText(redact(name), MAX_LABEL))
    .filter((name) => name !== "");
  const now = outcome === null ? platform.now() : endedAt;
  return {
    id,
    created_at: startedAt,
    updated_at: now,
    completed_at: endedAt,
    request_id: requestId,
    key: facts.key ?? "",
    ...(facts.team === undefined ? {} : { team: facts.team }),
    ...(facts.user === undefined ? {} : { user: facts.user }),
    ...(endUser === "" ? {} : { end_user: endUser }),
    ...(facts.tags === undefined ? {} : { tags: facts.tags.split(",").map(toName) }),
    dialect: conversation.dialect,
    ...(facts.operation === undefined || facts.operation === "chat" ? {} : { operation: facts.operation }),
    requested_model: truncateText(toName(facts.requestedModel ?? conversation.model.requested), MAX_LABEL),
    model: toName(conversation.model.id),
    provider: facts.provider ?? "",
    account: source.account,
    leased_at: source.leasedAt,
    first_token_ms: facts.firstTokenMs ?? 0,
    attempts: retries.begunAttempts,
    tried: [...source.failedAttempts],
    upstream_attempts: retries.attempts.map((attempt) => ({ ...attempt, model: toName(attempt.model) })),
    sign_ins: [...source.signIns],
    source: truncateText(toName(request.headers.get("x-gateway-source")?.trim() ?? ""), MAX_LABEL),
    ...(facts.answerPath === undefined ? {} : { path: facts.answerPath }),
    ...(facts.cache === "hit" ? { cached: true } : {}),
    ...(facts.droppedParams === undefined
      ? {}
      : { dropped_params: facts.droppedParams.split(",").map(toName) }),
    stream: conversation.stream,
    thinking: conversation.thinking,
    status: outcome?.status ?? "streaming",
    status_code: outcome?.statusCode ?? 0,
    // A provider's message may quote the request.
    error: limitErrorForHistory(outcome?.error ?? "", outcome?.code ?? "", mode),
    ...(outcome === null || outcome.code === "" ? {} : { error_code: outcome.code }),
    finish_reason: toName(outcome?.finishReason ?? ""),
    ...(calledFunctions.length === 0 ? {} : { called_functions: calledFunctions }),
    prompt_tokens: outcome?.usage?.prompt ?? 0,
    completion_tokens: outcome?.usage?.completion ?? 0,
    reasoning_tokens: outcome?.usage?.reasoning ?? 0,
    ...toHistoryUsageDetails(outcome?.usage ?? null),
    ...describeCost(source, outcome?.usage ?? null),
    elapsed_ms: now - startedAt,
    request_preview: createPreview(redact(lastQuestion(conversation))),
    response_preview: createPreview(redact(output.rawText)),
  };
}
