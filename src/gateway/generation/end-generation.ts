import type { Completion, Usage } from "../../core/conversation/events.ts";
import type { GenerationOutcome } from "../../core/conversation/outcome.ts";
import type { GatewayError } from "../../core/errors/gateway-error.ts";
import type { GenerationJob } from "./generation-job.ts";

/** Reports a successful generation to the history and the hooks. */
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

function finish(job: GenerationJob, outcome: GenerationOutcome): void {
  job.recording?.end(outcome);
  const { context, caller, conversation } = job;
  if (context.trace !== undefined) context.trace.finishReason = outcome.finishReason;
  for (const hook of job.hooks.onOutcome) hook({ context, caller, conversation, outcome });
}
