import type { Completion, Usage } from "../../core/conversation/events.ts";
import type { GenerationOutcome } from "../../core/conversation/outcome.ts";
import { addUsageDetails } from "../../core/conversation/usage-details.ts";
import type { GatewayError } from "../../core/errors/gateway-error.ts";
import type { RequestFacts } from "../../core/ports/request-outcome.ts";
import type { GenerationJob } from "./generation-job.ts";

/** Reports a successful generation to the history and the request's facts. */
export function finishWithSuccess(job: GenerationJob, { finishReason, usage }: Completion): void {
  finish(job, { status: "success", statusCode: 200, error: "", code: "", finishReason, usage });
}

/** Reports a failed or cancelled generation. `usage` is its usage so far. */
export function finishWithError(job: GenerationJob, error: GatewayError, usage: Usage | null): void {
  const { status: statusCode, message, code } = error;
  const status = statusCode === 499 ? "cancelled" : "error";
  const { retryAfterSeconds } = error;
  if (retryAfterSeconds !== undefined) job.context.facts.retryAfterSeconds = retryAfterSeconds;
  finish(job, { status, statusCode, error: message, code, finishReason: "", usage });
}

/** Reports that the answer of an earlier generation was sent: it has no usage of its own. */
export function finishFromCache(job: GenerationJob, finishReason: string): void {
  finish(job, { status: "success", statusCode: 200, error: "", code: "", finishReason, usage: null });
}

/** A nested generation has no record: the outer generation reports the usage of both. */
function finish({ context, recording, onOutcome }: GenerationJob, outcome: GenerationOutcome): void {
  if (context.trace !== undefined) context.trace.finishReason = outcome.finishReason;
  if (recording === null) return;
  recording.end(outcome);
  recordOutcomeFacts(context.facts, outcome);
  onOutcome?.(outcome);
}

/** Adds usage and error to the request's facts. Usage reports, limits, metrics and the log line are made from them. */
function recordOutcomeFacts(facts: RequestFacts, { usage, code, statusCode }: GenerationOutcome): void {
  if (usage !== null) {
    // The counts are sums: an administrator's test of many accounts is one request.
    facts.promptTokens = (facts.promptTokens ?? 0) + usage.prompt;
    facts.completionTokens = (facts.completionTokens ?? 0) + usage.completion;
    if (usage.reasoning > 0) facts.reasoningTokens = (facts.reasoningTokens ?? 0) + usage.reasoning;
    addUsageDetails(facts, usage);
  }
  if (code === "") return;
  facts.error = code;
  facts.errorStatus = statusCode;
}
