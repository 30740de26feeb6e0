import { maskPath } from "../../core/http/path-masking.ts";
import type { LogFields, TracedAnswer } from "../../core/ports/context.ts";
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

/** An attempt of a request with what its span needs besides. */
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
export function describeHttpRequest({ method, status, fields }: TracedAnswer): Attributes {
  return defined({
    "http.request.method": METHODS.includes(method) ? method : "_OTHER",
    "http.route": fields.route,
    "http.response.status_code": status,
    "error.type": fields.error,
  });
}

/** The code of an error that ended an attempt; undefined: it succeeded. */
function findError({ attempt, isLast }: TracedAttempt, { error }: LogFields): string | undefined {
  if (attempt.reason !== "") return attempt.reason;
  return isLast && attempt.ms === null ? error : undefined;
}

/** The attributes of an attempt that its span and its metric share. */
export function describeAttempt(traced: TracedAttempt, fields: LogFields): Attributes {
  return defined({
    "gen_ai.operation.name": fields.operation ?? "chat",
    "gen_ai.provider.name": traced.provider,
    "gen_ai.request.model": traced.attempt.model,
    "error.type": findError(traced, fields),
  });
}

function describeUsage(fields: LogFields, finishReason: string): Attributes {
  const { cacheWrite5mTokens = 0, cacheWrite1hTokens = 0, firstTokenMs } = fields;
  const written = cacheWrite5mTokens + cacheWrite1hTokens;
  return defined({
    "gen_ai.response.model": fields.model,
    "gen_ai.response.finish_reasons": finishReason === "" ? undefined : [finishReason],
    "gen_ai.usage.input_tokens": fields.promptTokens,
    "gen_ai.usage.output_tokens": fields.completionTokens,
    "gen_ai.usage.cache_read.input_tokens": fields.cachedTokens,
    "gen_ai.usage.cache_creation.input_tokens": written === 0 ? undefined : written,
    "gen_ai.usage.reasoning.output_tokens": fields.reasoningTokens,
    "gen_ai.response.time_to_first_chunk": firstTokenMs === undefined ? undefined : firstTokenMs / 1_000,
  });
}

/** The span of the request itself. */
export function createServerSpan(trace: TraceContext, spanId: string, answer: TracedAnswer): Span {
  const { fields, startedAt, durationMs } = answer;
  const attributes = {
    ...describeHttpRequest(answer),
    ...defined({
      "url.path": maskPath(answer.path),
      "polygate.key.id": fields.key,
      "polygate.style": fields.dialect,
      "polygate.requested_model": fields.requestedModel,
      "polygate.attempts": fields.attempts,
      "polygate.queue_ms": fields.queueMs,
    }),
  };
  const status = fields.errorStatus ?? answer.status;
  return {
    traceId: trace.traceId,
    spanId,
    ...(trace.parentSpanId === "" ? {} : { parentSpanId: trace.parentSpanId }),
    name: `${attributes["http.request.method"]} ${fields.route ?? ""}`.trim(),
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
  answer: TracedAnswer,
  finishReason: string,
): Span {
  const { attempt, spanId, accountHash, isLast } = traced;
  const { fields } = answer;
  const common = describeAttempt(traced, fields);
  const attributes = {
    ...common,
    ...(isLast ? describeUsage(fields, finishReason) : {}),
    ...defined({
      "gen_ai.request.stream": fields.stream,
      "http.response.status_code": attempt.status === 0 ? undefined : attempt.status,
      "polygate.account.hash": accountHash,
      "polygate.retry.cause": attempt.cause,
    }),
  };
  const endsAt = attempt.ms === null ? answer.startedAt + answer.durationMs : attempt.at + attempt.ms;
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
    status: { code: findError(traced, fields) === undefined ? STATUS_UNSET : STATUS_ERROR },
  };
}
