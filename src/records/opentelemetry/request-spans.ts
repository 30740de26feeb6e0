import { maskPath } from "../../core/http/path-masking.ts";
import type { RequestFacts, RequestOutcome } from "../../core/ports/request-outcome.ts";
import type { Attempt } from "../../core/retries/retry-budget.ts";
import {
  type Attributes,
  createFlags,
  NOTHING_DROPPED,
  SPAN_KIND,
  type Span,
  STATUS_ERROR,
  STATUS_UNSET,
  toKeyValues,
  toNanoseconds,
} from "./otlp.ts";
import type { TraceContext } from "./trace-context.ts";

/** All other methods share one name (conventions for HTTP, `_OTHER`). */
const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"];

/** An attempt of a request with further data for its span. */
export interface TracedAttempt {
  readonly attempt: Readonly<Attempt>;
  readonly spanId: string;
  /** The name of the provider: its id, or the driver of the default provider. */
  readonly provider: string;
  /** The beginning of the SHA-256 of the account's identifier; empty: the caller's own token. */
  readonly accountHash: string;
  /** Whether the usage and the finish reason are those of this attempt. */
  readonly isLast: boolean;
}

/** Leaves out attributes without a value. */
export function defined(attributes: Readonly<Record<string, Attributes[string] | undefined>>): Attributes {
  const entries = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}

/** The attributes of a request that its span and its metric share. */
export function describeHttpRequest({ method, status, facts }: RequestOutcome): Attributes {
  return defined({
    "http.request.method": METHODS.includes(method) ? method : "_OTHER",
    "http.route": facts.route,
    "http.response.status_code": status,
    "error.type": facts.error,
  });
}

/** The code of an error that ended an attempt; undefined: it succeeded. */
function findError({ attempt, isLast }: TracedAttempt, { error }: RequestFacts): string | undefined {
  if (attempt.reason !== "") return attempt.reason;
  return isLast && attempt.ms === null ? error : undefined;
}

/** The attributes of an attempt that its span and its metric share. */
export function describeAttempt(traced: TracedAttempt, facts: RequestFacts): Attributes {
  return defined({
    "gen_ai.operation.name": facts.operation ?? "chat",
    "gen_ai.provider.name": traced.provider,
    "gen_ai.request.model": traced.attempt.model,
    "error.type": findError(traced, facts),
  });
}

function describeUsage(facts: RequestFacts, finishReason: string): Attributes {
  const { cacheWrite5mTokens = 0, cacheWrite1hTokens = 0, firstTokenMs } = facts;
  const written = cacheWrite5mTokens + cacheWrite1hTokens;
  return defined({
    "gen_ai.response.model": facts.model,
    "gen_ai.response.finish_reasons": finishReason === "" ? undefined : [finishReason],
    "gen_ai.usage.input_tokens": facts.promptTokens,
    "gen_ai.usage.output_tokens": facts.completionTokens,
    "gen_ai.usage.cache_read.input_tokens": facts.cachedTokens,
    "gen_ai.usage.cache_creation.input_tokens": written === 0 ? undefined : written,
    "gen_ai.usage.reasoning.output_tokens": facts.reasoningTokens,
    "gen_ai.response.time_to_first_chunk": firstTokenMs === undefined ? undefined : firstTokenMs / 1_000,
  });
}

/** The span of the request itself. */
export function createServerSpan(trace: TraceContext, spanId: string, outcome: RequestOutcome): Span {
  const { facts, startedAt, durationMs } = outcome;
  const attributes = {
    ...describeHttpRequest(outcome),
    ...defined({
      "url.path": maskPath(outcome.path),
      "polygate.key.id": facts.key,
      "polygate.style": facts.dialect,
      "polygate.requested_model": facts.requestedModel,
      "polygate.attempts": facts.attempts,
      "polygate.queue_ms": facts.queueMs,
    }),
  };
  const status = facts.errorStatus ?? outcome.status;
  return {
    traceId: trace.traceId,
    spanId,
    ...(trace.parentSpanId === "" ? {} : { parentSpanId: trace.parentSpanId }),
    name: `${attributes["http.request.method"]} ${facts.route ?? ""}`.trim(),
    kind: SPAN_KIND.server,
    startTimeUnixNano: toNanoseconds(startedAt),
    endTimeUnixNano: toNanoseconds(startedAt + durationMs),
    attributes: toKeyValues(attributes),
    ...NOTHING_DROPPED,
    flags: createFlags(trace.parentSpanId !== ""),
    status: { code: status >= 500 ? STATUS_ERROR : STATUS_UNSET },
  };
}

/** The span of one attempt. */
export function createAttemptSpan(
  { traceId }: TraceContext,
  parentSpanId: string,
  traced: TracedAttempt,
  outcome: RequestOutcome,
  finishReason: string,
): Span {
  const { attempt, spanId, accountHash, isLast } = traced;
  const { facts } = outcome;
  const common = describeAttempt(traced, facts);
  const attributes = {
    ...common,
    ...(isLast ? describeUsage(facts, finishReason) : {}),
    ...defined({
      "gen_ai.request.stream": facts.stream,
      "http.response.status_code": attempt.status === 0 ? undefined : attempt.status,
      "polygate.account.hash": accountHash,
      "polygate.retry.cause": attempt.cause,
    }),
  };
  const endsAt = attempt.ms === null ? outcome.startedAt + outcome.durationMs : attempt.at + attempt.ms;
  return {
    traceId,
    spanId,
    parentSpanId,
    name: `${common["gen_ai.operation.name"]} ${attempt.model}`.trim(),
    kind: SPAN_KIND.client,
    startTimeUnixNano: toNanoseconds(attempt.at),
    endTimeUnixNano: toNanoseconds(Math.max(endsAt, attempt.at)),
    attributes: toKeyValues(attributes),
    ...NOTHING_DROPPED,
    flags: createFlags(false),
    status: { code: findError(traced, facts) === undefined ? STATUS_UNSET : STATUS_ERROR },
  };
}
